package sandbox.shell;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import jdk.jshell.DeclarationSnippet;
import jdk.jshell.Diag;
import jdk.jshell.JShell;
import jdk.jshell.JShellException;
import jdk.jshell.Snippet;
import jdk.jshell.Snippet.Status;
import jdk.jshell.Snippet.SubKind;
import jdk.jshell.SnippetEvent;
import sandbox.Forms;

/** JShell with its state, and the outcome of each run. */
final class Evaluator {
    private static final List<String> PACKAGES = List.of(
        "java.io", "java.math", "java.net", "java.nio.file", "java.util", "java.util.concurrent",
        "java.util.function", "java.util.regex", "java.util.stream", "sandbox");
    /** Bytes that the compiler needs. */
    private static final long NEEDED = 24L << 20;

    private final BiConsumer<String, Map<String, byte[]>> out;
    private final Control control = new Control();
    private final JShell shell;
    private final Map<String, Piece> pieces = new ConcurrentHashMap<>();
    private final Errors errors = new Errors(pieces::get, this::unresolved);
    private final Libraries libraries;
    private final Syntax syntax = new Syntax();
    private volatile boolean running;
    private volatile Piece current;
    private int snippets;

    /**
     * @param out takes what is shown: the kind of the message and its fields
     */
    Evaluator(BiConsumer<String, Map<String, byte[]>> out) {
        this.out = out;
        shell = JShell.builder()
            .executionEngine(control.provider(), Map.of())
            .idGenerator((snippet, number) -> name())
            .build();
        Thread.setDefaultUncaughtExceptionHandler(Errors::tellOfThread);
        libraries = new Libraries(shell);
        PACKAGES.forEach(name -> shell.eval("import " + name + ".*;"));
    }

    private String name() {
        String name = String.valueOf(++snippets);
        if (current != null) {
            pieces.put(name, current);
        }
        return name;
    }

    /** Ends what is running, from any thread. */
    void stop() {
        if (running) {
            control.stop();
        }
    }

    /** Sets a variable of the environment; null for none. */
    void setVariable(String name, String value) {
        try {
            Internals.setVariable(name, value);
        } catch (ReflectiveOperationException impossible) {
            System.err.println("the variable " + name + " cannot be set: " + impossible);
        }
        if (name.equals("CLASSPATH")) {
            libraries.add(value);
        }
    }

    /** Runs code; returns whether it ended well. */
    boolean run(String code, int number) {
        control.begin();
        running = true;
        try {
            libraries.addFor(code);
            return runPieces(code, number);
        } finally {
            running = false;
            current = null;
        }
    }

    private boolean runPieces(String code, int number) {
        Deque<Piece> left = new ArrayDeque<>(Piece.cut(shell.sourceCodeAnalysis(), code, number));
        if (!left.isEmpty() && !left.getLast().complete) {
            Piece open = left.removeLast();
            List<Diag> found = diagnose(open);
            List<Piece> lines = finer(open, found);
            if (lines.isEmpty()) {
                tell(Errors.compile(open, found));
                return false;
            }
            left.addAll(lines);
        }
        Piece broken = left.size() > 1 ? syntax.broken(new ArrayList<>(left)) : null;
        if (broken != null) {
            List<Diag> found = diagnose(broken);
            if (finer(broken, found).isEmpty()) {
                tell(Errors.compile(broken, found));
                return false;
            }
        }
        Snippet last = null;
        Set<Snippet> declared = new LinkedHashSet<>();
        while (!left.isEmpty()) {
            Piece piece = left.removeFirst();
            if (control.isStopping()) {
                return interrupted();
            }
            current = piece;
            SnippetEvent event = main(shell.eval(piece.source));
            if (event == null) {
                continue;
            }
            if (event.status() == Status.REJECTED) {
                List<Piece> lines = finer(piece, shell.diagnostics(event.snippet()).toList());
                if (!lines.isEmpty()) {
                    lines = new ArrayList<>(lines);
                    lines.addAll(left);
                    left = new ArrayDeque<>(lines);
                    continue;
                }
            }
            last = event.snippet();
            declared.add(last);
            if (!isGood(event, piece)) {
                return false;
            }
        }
        if (control.isStopping()) {
            return interrupted();
        }
        warn(declared);
        return last == null || showResult(last, current);
    }

    /** Returns what came of the snippet itself; the other events are of what depends on it. */
    private static SnippetEvent main(List<SnippetEvent> events) {
        return events.stream().filter(event -> event.causeSnippet() == null).findFirst()
            .orElse(null);
    }

    /** Cuts a piece into lines, if what is wrong with it is that they end without semicolons. */
    private List<Piece> finer(Piece piece, List<Diag> found) {
        boolean lacks = found.stream().anyMatch(e -> e.getMessage(null).equals("';' expected"));
        return lacks ? piece.lines(shell.sourceCodeAnalysis()) : List.of();
    }

    /** Returns the compiler errors of incomplete code, which is not run. */
    private List<Diag> diagnose(Piece piece) {
        for (SnippetEvent event : shell.eval(piece.source)) {
            if (event.status() == Status.REJECTED) {
                return shell.diagnostics(event.snippet()).toList();
            }
        }
        return List.of();
    }

    private boolean isGood(SnippetEvent event, Piece piece) {
        if (event.status() == Status.REJECTED) {
            tell(Errors.compile(piece, shell.diagnostics(event.snippet()).toList()));
            return false;
        }
        JShellException exception = event.exception();
        if (control.isStopping()) {
            return interrupted();
        }
        if (exception != null) {
            tell(errors.thrown(exception, piece.run));
            endIfFull();
            return false;
        }
        return true;
    }

    /** Ends all, if variables of the code hold the memory that the next piece would need. */
    private static void endIfFull() {
        Runtime runtime = Runtime.getRuntime();
        if (runtime.maxMemory() - runtime.totalMemory() + runtime.freeMemory() > NEEDED) {
            return;
        }
        System.gc();
        if (runtime.maxMemory() - runtime.totalMemory() + runtime.freeMemory() < NEEDED) {
            System.err.println("The variables have filled the memory: the shell is ended.");
            kill();
        }
    }

    private static void kill() {
        try {
            String command = "kill -9 " + ProcessHandle.current().pid();
            new ProcessBuilder("sh", "-c", command).start().waitFor();
        } catch (IOException | InterruptedException impossible) {
            Runtime.getRuntime().halt(1);
        }
    }

    private boolean interrupted() {
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("name", "Interrupted");
        fields.put("value", "the code was interrupted");
        fields.put("type", "exception");
        fields.put("traceback", "Interrupted: the code was interrupted");
        tell(fields);
        return false;
    }

    /** Says what was declared and cannot be used yet. */
    private void warn(Set<Snippet> declared) {
        for (Snippet snippet : declared) {
            Status status = shell.status(snippet);
            if (status == Status.RECOVERABLE_DEFINED || status == Status.RECOVERABLE_NOT_DEFINED) {
                int line = pieces.get(snippet.id()).line(0);
                System.err.println("line " + line + ": " + unresolved((DeclarationSnippet) snippet));
            }
        }
    }

    private String unresolved(DeclarationSnippet snippet) {
        String missing = shell.unresolvedDependencies(snippet).collect(Collectors.joining(", "));
        return snippet.name() + " cannot be used until "
            + (missing.isEmpty() ? "what it needs" : missing) + " is declared";
    }

    private boolean showResult(Snippet snippet, Piece piece) {
        Object value = control.value();
        if (value == null || !isShown(snippet, piece)) {
            return true;
        }
        try {
            Map<String, byte[]> forms = control.call(() -> {
                Map<String, byte[]> found = Forms.of(value);
                found.putIfAbsent("text/plain", Messages.text(Control.describe(value)));
                return found;
            });
            out.accept("result", Shell.shown(forms, Forms.metadata(value)));
            return true;
        } catch (Exception failed) {
            if (control.isStopping()) {
                return interrupted();
            }
            Map<String, String> fields = new LinkedHashMap<>();
            fields.put("name", failed.getClass().getName());
            fields.put("value", "the value cannot be shown: " + failed.getMessage());
            fields.put("traceback", fields.get("name") + ": " + fields.get("value"));
            tell(fields);
            return false;
        }
    }

    /** Returns whether a value is displayed: that of an expression which is not a statement. */
    private static boolean isShown(Snippet snippet, Piece piece) {
        SubKind kind = snippet.subKind();
        String source = snippet.source().strip();
        if (kind == SubKind.VAR_VALUE_SUBKIND) {
            return true;
        }
        if (kind != SubKind.TEMP_VAR_EXPRESSION_SUBKIND && kind != SubKind.OTHER_EXPRESSION_SUBKIND) {
            return false;
        }
        boolean called = source.matches("(?s).*(\\)|\\+\\+|--)\\s*;") && !source.startsWith("(");
        return !piece.closed || !called;
    }

    private void tell(Map<String, String> fields) {
        Map<String, byte[]> encoded = new LinkedHashMap<>();
        fields.forEach((name, value) -> encoded.put(name, Messages.text(value)));
        out.accept("error", encoded);
    }
}
