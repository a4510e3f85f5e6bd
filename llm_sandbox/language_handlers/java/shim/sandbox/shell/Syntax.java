package sandbox.shell;

import com.sun.source.util.JavacTask;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javax.tools.Diagnostic;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** Syntax check of code before any of it runs. */
final class Syntax {
    /** Contexts of a snippet: each snippet parses in one of them. */
    private static final String[][] AROUND = {
        {"class C { void m() throws Throwable {\n", "\n} }"},
        {"class C {\n", "\n}"},
        {"class C { Object o = (\n", "\n); }"},
        {"", "\nclass C { }"},
    };

    private final JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    private final StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null);

    /** Returns the first piece that does not parse; null where all do. */
    Piece broken(List<Piece> pieces) {
        List<Integer> left = new ArrayList<>();
        for (int i = 0; i < pieces.size(); i++) {
            left.add(i);
        }
        for (String[] around : AROUND) {
            if (left.isEmpty()) {
                return null;
            }
            List<Unit> units = new ArrayList<>();
            for (int number : left) {
                String source = pieces.get(number).source;
                boolean expression = around[1].contains(")");
                units.add(new Unit(number, around[0] + (expression ? open(source) : source) + around[1]));
            }
            Set<String> refused = parse(units);
            left.removeIf(number -> !refused.contains(Unit.name(number)));
        }
        return left.isEmpty() ? null : pieces.get(left.get(0));
    }

    private static String open(String source) {
        String text = source.stripTrailing();
        return text.endsWith(";") ? text.substring(0, text.length() - 1) : text;
    }

    private Set<String> parse(List<Unit> units) {
        Set<String> refused = new HashSet<>();
        JavacTask task = (JavacTask) compiler.getTask(null, files, found -> {
            if (found.getKind() == Diagnostic.Kind.ERROR && found.getSource() != null) {
                refused.add(found.getSource().getName());
            }
        }, List.of("-proc:none"), null, units);
        try {
            task.parse();
        } catch (IOException never) {
            throw new IllegalStateException(never);
        }
        return refused;
    }

    /** A piece as a source file. */
    private static final class Unit extends SimpleJavaFileObject {
        private final String content;

        Unit(int number, String content) {
            super(URI.create("piece:" + name(number)), JavaFileObject.Kind.SOURCE);
            this.content = content;
        }

        static String name(int number) {
            return "/" + number + ".java";
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return content;
        }
    }
}
