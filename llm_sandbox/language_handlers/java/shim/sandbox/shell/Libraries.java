package sandbox.shell;

import java.io.File;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Pattern;
import jdk.jshell.JShell;

/** Class path of the shell, besides Java's own classes. */
final class Libraries {
    private static final Pattern FOREIGN = Pattern.compile(
        "^\\s*import\\s+(static\\s+)?(?!(java|javax|jdk|sandbox)\\.)"
            + "|(?<![\\w.])(org|com|net|io)\\.[a-z]+\\.", Pattern.MULTILINE);
    private static final String INSTALLED = "/usr/share/java/*";

    private final JShell shell;
    private final Set<String> known = new HashSet<>();

    /** Adds the classes of this program, the working directory, and what the environment names. */
    Libraries(JShell shell) {
        this.shell = shell;
        add(System.getProperty("java.class.path"));
        add(".");
        add(System.getenv("CLASSPATH"));
    }

    /** Adds a class path; null for none. */
    void add(String path) {
        for (String entry : path == null ? new String[0] : path.split(File.pathSeparator)) {
            if (entry.endsWith("/*")) {
                addArchives(Path.of(entry).getParent());
            } else if (!entry.isEmpty() && known.add(entry)) {
                shell.addToClasspath(entry);
            }
        }
    }

    /** Adds what is installed with the system, for code that seems to need it: it takes time. */
    void addFor(String code) {
        if (FOREIGN.matcher(code).find()) {
            add(INSTALLED);
        }
    }

    private void addArchives(Path folder) {
        try (DirectoryStream<Path> archives = Files.newDirectoryStream(folder, "*.jar")) {
            for (Path archive : archives) {
                // Most are there twice, with their version and, as a link, without.
                if (known.add(archive.toRealPath().toString())) {
                    shell.addToClasspath(archive.toString());
                }
            }
        } catch (IOException absent) {
            // As on the class path of any program: what is not there adds nothing.
        }
    }
}
