package sandbox;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;

/** Displays of images, charts, tables and text. */
public final class Display {
    private static final String FOLDER = "LLM_SANDBOX_DISPLAYS";
    private static final Map<String, String> EXTENSIONS = Map.of(
        "image/png", "png", "image/svg+xml", "svg", "text/html", "html",
        "text/markdown", "md", "text/plain", "txt");
    private static final AtomicInteger COUNT = new AtomicInteger();
    private static BiConsumer<Map<String, byte[]>, String> taker = Display::write;

    private Display() {}

    /**
     * Shows a value: an image, a chart of JFreeChart or XChart, a collection of maps or records as
     * a table, anything else as its text.
     */
    public static void show(Object value) {
        show(value, 0, 0);
    }

    /** Shows a chart in a size, in pixels. */
    public static void show(Object value, int width, int height) {
        Map<String, byte[]> forms = Forms.of(value, width, height);
        if (forms.isEmpty()) {
            forms.put("text/plain", Forms.text(String.valueOf(value)));
        }
        taker.accept(forms, Forms.metadata(value));
    }

    /** Shows a drawing. */
    public static void svg(String content) {
        show("image/svg+xml", content);
    }

    /** Shows a page, or a part of one. */
    public static void html(String content) {
        show("text/html", content);
    }

    /** Shows text with Markdown's marks. */
    public static void markdown(String content) {
        show("text/markdown", content);
    }

    private static void show(String type, String content) {
        taker.accept(Map.of(type, Forms.text(content)), "{}");
    }

    /** Sets the receiver of displays, instead of a folder of files: bundle and metadata as JSON. */
    public static void connect(BiConsumer<Map<String, byte[]>, String> other) {
        taker = other;
    }

    private static void write(Map<String, byte[]> forms, String metadata) {
        String folder = System.getenv(FOLDER);
        if (folder == null) {
            return;
        }
        System.out.flush();
        String number = String.format("%04d", COUNT.incrementAndGet());
        String type = forms.keySet().iterator().next();
        boolean single = EXTENSIONS.containsKey(type)
            && (forms.size() == 1 || type.startsWith("image/"));
        String extension = single ? EXTENSIONS.get(type) : "bundle.json";
        try {
            Files.createDirectories(Path.of(folder));
            Path whole = Path.of(folder, number + "." + extension);
            Path part = Path.of(folder, "." + number + ".part");
            Files.write(part, single ? forms.get(type) : bundle(forms));
            Files.move(part, whole);
        } catch (IOException refused) {
            throw new UncheckedIOException(refused);
        }
    }

    private static byte[] bundle(Map<String, byte[]> forms) {
        StringBuilder json = new StringBuilder("{");
        forms.forEach((type, content) -> {
            json.append(json.length() > 1 ? "," : "").append(Json.write(type)).append(':');
            if (type.endsWith("json")) {
                json.append(new String(content, StandardCharsets.UTF_8));
            } else if (type.startsWith("text/") || type.endsWith("+xml")) {
                json.append(Json.write(new String(content, StandardCharsets.UTF_8)));
            } else {
                json.append(Json.write(Base64.getEncoder().encodeToString(content)));
            }
        });
        return Forms.text(json.append('}').toString());
    }
}
