package sandbox.shell;

import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import sandbox.Display;
import sun.misc.Signal;

/** Java shim: runs cells in one persistent JShell, or a single one as a program. */
public final class Shell {
    private Shell() {}

    /**
     * @param args the file of a single piece; without it, requests are read from descriptor 3 and
     *     answered on descriptor 4
     */
    public static void main(String[] args) throws Exception {
        if (args.length > 0) {
            runFile(Path.of(args[0]));
        }
        Messages messages = new Messages(
            new FileInputStream(Internals.descriptor(3)),
            new FileOutputStream(Internals.descriptor(4)));
        Input input = new Input(System.in);
        System.setIn(input);
        Evaluator evaluator = new Evaluator(messages::show);
        Signal.handle(new Signal("INT"), signal -> evaluator.stop());
        Display.connect((forms, metadata) -> messages.show("display", shown(forms, metadata)));
        messages.tell("ready", Map.of());
        serve(messages, input, evaluator);
        Runtime.getRuntime().halt(0);
    }

    private static void serve(Messages messages, Input input, Evaluator evaluator)
            throws IOException {
        for (Map<String, byte[]> request = messages.read(); request != null;
                request = messages.read()) {
            String kind = Messages.text(request.get("kind"));
            if (kind.equals("run")) {
                input.begin();
                int number = Integer.parseInt(Messages.text(request.get("number")));
                boolean good = evaluator.run(Messages.text(request.get("code")), number);
                messages.tell("done", Map.of("status", Messages.text(good ? "ok" : "error")));
            } else if (kind.equals("set")) {
                String value = Messages.text(request.get("value"));
                evaluator.setVariable(Messages.text(request.get("name")), value);
            }
        }
    }

    private static void runFile(Path file) throws Exception {
        Evaluator evaluator = new Evaluator((kind, fields) -> {
            if (kind.equals("error")) {
                System.err.print(Messages.text(fields.get("traceback")));
            }
        });
        boolean good = evaluator.run(Files.readString(file), 1);
        System.exit(good ? 0 : 1);
    }

    static Map<String, byte[]> shown(Map<String, byte[]> forms, String metadata) {
        Map<String, byte[]> fields = new LinkedHashMap<>();
        forms.forEach((type, content) -> fields.put("data:" + type, content));
        fields.put("metadata", Messages.text(metadata));
        return fields;
    }
}
