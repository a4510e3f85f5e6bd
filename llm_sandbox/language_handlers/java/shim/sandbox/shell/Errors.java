package sandbox.shell;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import jdk.jshell.DeclarationSnippet;
import jdk.jshell.Diag;
import jdk.jshell.EvalException;
import jdk.jshell.JShellException;
import jdk.jshell.UnresolvedReferenceException;
import sandbox.Json;

/** Error reports, with the lines of the user's code. */
final class Errors {
    private static final int SHOWN = 20;

    private final Function<String, Piece> pieces;
    private final Function<DeclarationSnippet, String> unresolved;

    /**
     * @param pieces finds the piece of a snippet by the snippet's name
     * @param unresolved says what a declaration lacks
     */
    Errors(Function<String, Piece> pieces, Function<DeclarationSnippet, String> unresolved) {
        this.pieces = pieces;
        this.unresolved = unresolved;
    }

    /** Describes what the compiler has against a piece. */
    static Map<String, String> compile(Piece piece, List<Diag> found) {
        List<Diag> errors = found.stream().filter(Diag::isError).toList();
        StringBuilder text = new StringBuilder();
        for (Diag error : errors) {
            int line = piece.line(error.getPosition());
            String[] message = error.getMessage(null).strip().split("\n");
            text.append(label(piece.run)).append(':').append(line).append(": error: ")
                .append(message[0]).append('\n').append(piece.text(line)).append('\n')
                .append(" ".repeat(piece.column(error.getPosition()) - 1)).append("^\n");
            for (int i = 1; i < message.length; i++) {
                if (!message[i].strip().equals("location: class")) {
                    text.append(message[i]).append('\n');
                }
            }
        }
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("name", "CompileError");
        fields.put("type", "compile");
        fields.put("traceback", text.toString());
        if (errors.isEmpty()) {
            fields.put("value", "the code is not complete");
            fields.put("line", String.valueOf(piece.line(piece.code.stripTrailing().length())));
            return fields;
        }
        Diag first = errors.get(0);
        fields.put("value", summary(first.getMessage(null)));
        fields.put("line", String.valueOf(piece.line(first.getPosition())));
        fields.put("column", String.valueOf(piece.column(first.getPosition())));
        return fields;
    }

    private static String summary(String message) {
        String[] lines = message.strip().split("\n");
        for (String line : lines) {
            if (line.strip().startsWith("symbol:")) {
                String symbol = line.strip().substring("symbol:".length()).strip();
                return lines[0] + ": " + symbol.replaceAll("\\s+", " ");
            }
        }
        return lines[0];
    }

    /** Describes what the code has thrown. */
    Map<String, String> thrown(JShellException exception, int run) {
        List<Map<String, Object>> frames = new ArrayList<>();
        String line = "";
        for (StackTraceElement element : exception.getStackTrace()) {
            Map<String, Object> frame = frame(element);
            frames.add(frame);
            if (line.isEmpty() && label(run).equals(frame.get("file"))) {
                line = String.valueOf(frame.get("line"));
            }
        }
        Collections.reverse(frames);
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("name", name(exception));
        fields.put("value", message(exception));
        fields.put("line", line);
        fields.put("type", "exception");
        fields.put("traceback", text(exception));
        fields.put("frames", Json.write(frames));
        return fields;
    }

    private static String name(Throwable exception) {
        if (exception instanceof EvalException) {
            return plain(((EvalException) exception).getExceptionClassName());
        }
        boolean unresolved = exception instanceof UnresolvedReferenceException;
        return unresolved ? "UnresolvedReference" : exception.getClass().getName();
    }

    private String text(Throwable exception) {
        StringBuilder text = new StringBuilder("Exception ");
        for (Throwable e = exception; e != null; e = e.getCause()) {
            text.append(e == exception ? "" : "Caused by: ").append(name(e));
            text.append(message(e).isEmpty() ? "" : ": ").append(message(e)).append('\n');
            StackTraceElement[] trace = e.getStackTrace();
            for (int i = 0; i < trace.length; i++) {
                if (i == SHOWN && trace.length > 2 * SHOWN) {
                    text.append("\t... ").append(trace.length - 2 * SHOWN).append(" more\n");
                    i = trace.length - SHOWN;
                }
                text.append("\tat ").append(line(trace[i])).append('\n');
            }
        }
        return text.toString();
    }

    private String message(Throwable exception) {
        if (exception instanceof UnresolvedReferenceException) {
            return unresolved.apply(((UnresolvedReferenceException) exception).getSnippet());
        }
        return exception.getMessage() == null ? "" : exception.getMessage();
    }

    /** Returns a name of the code's own without what JShell wraps it in. */
    private static String plain(String name) {
        return name.replaceAll("(REPL\\.)?\\$JShell\\$\\w+[.$]", "")
            .replaceAll("lambda\\$do_it\\$\\$\\d+", "lambda");
    }

    /** Reports, on standard error, the exception that ended a thread of the code. */
    static void tellOfThread(Thread thread, Throwable thrown) {
        StringWriter text = new StringWriter();
        thrown.printStackTrace(new PrintWriter(text, true));
        String lines = text.toString().replaceAll("\\(\\$JShell\\$[^)]*\\)", "(code)");
        System.err.print("Exception in thread \"" + thread.getName() + "\" " + plain(lines));
    }

    private String line(StackTraceElement element) {
        Piece piece = piece(element);
        if (piece == null) {
            return element.toString();
        }
        Map<String, Object> frame = frame(element);
        return frame.get("function") + "(" + frame.get("file") + ":" + frame.get("line") + ")";
    }

    private Map<String, Object> frame(StackTraceElement element) {
        Map<String, Object> frame = new LinkedHashMap<>();
        Piece piece = piece(element);
        String name = List.of(element.getClassName(), element.getMethodName()).stream()
            .filter(part -> !part.isEmpty()).collect(Collectors.joining("."));
        frame.put("function", plain(name));
        if (piece == null) {
            frame.put("file", element.getFileName() == null ? "" : element.getFileName());
            frame.put("line", element.getLineNumber() > 0 ? element.getLineNumber() : null);
            return frame;
        }
        int line = piece.line(0) + element.getLineNumber() - 1;
        frame.put("file", label(piece.run));
        frame.put("line", line);
        frame.put("source", piece.text(line).strip());
        return frame;
    }

    private Piece piece(StackTraceElement element) {
        String file = element.getFileName();
        return file != null && file.startsWith("#") ? pieces.apply(file.substring(1)) : null;
    }

    private static String label(int run) {
        return "run " + run;
    }
}
