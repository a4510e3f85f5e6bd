import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/**
 * Launcher of the shell: compiles and starts it in one virtual machine, because the shell needs the
 * compiler that has just been loaded.
 */
final class Start {
    private Start() {}

    /**
     * @param args the folder of the sources; the folder that keeps the classes, whose part
     *     {@code classes} is on the class path; the shell's own arguments
     */
    public static void main(String[] args) throws Exception {
        Path store = Path.of(args[1]);
        compile(Path.of(args[0], "sandbox"), store.resolve("classes"));
        Files.deleteIfExists(store.resolve("done"));
        Files.createFile(store.resolve("done"));
        String[] rest = Arrays.copyOfRange(args, 2, args.length);
        Class.forName("sandbox.shell.Shell", true, ClassLoader.getSystemClassLoader())
            .getMethod("main", String[].class)
            .invoke(null, (Object) rest);
    }

    private static void compile(Path sources, Path classes) throws Exception {
        List<String> words = new ArrayList<>(List.of(
            "-d", classes.toString(), "-proc:none", "-encoding", "UTF-8", "-nowarn",
            "-XDignore.symbol.file"));
        try (Stream<Path> files = Files.walk(sources)) {
            files.map(Path::toString).filter(name -> name.endsWith(".java")).forEach(words::add);
        }
        var compiler = ToolProvider.getSystemJavaCompiler();
        if (compiler.run(null, null, null, words.toArray(String[]::new)) != 0) {
            throw new IllegalStateException("the shell could not be compiled");
        }
    }
}
