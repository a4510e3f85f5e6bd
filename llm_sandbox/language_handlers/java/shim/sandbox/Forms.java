package sandbox;

import java.awt.image.BufferedImage;
import java.awt.image.RenderedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.imageio.ImageIO;

/** MIME bundle of a value: its representations by MIME type. */
public final class Forms {
    private static final String TABLE = "application/vnd.llm-sandbox.table+json";
    private static final String JFREECHART = "org.jfree.chart.JFreeChart";
    private static final String XCHART = "org.knowm.xchart.internal.chartpart.Chart";
    private static final String XCHART_WRITER = "org.knowm.xchart.BitmapEncoder";

    private Forms() {}

    /** Returns the forms of an image, a chart or a table; none for anything else. */
    public static Map<String, byte[]> of(Object value) {
        return of(value, 0, 0);
    }

    /** The same, with the size that a chart is drawn in; 0 for its own. */
    static Map<String, byte[]> of(Object value, int width, int height) {
        Map<String, byte[]> forms = new LinkedHashMap<>();
        RenderedImage image = draw(value, width, height);
        if (image != null) {
            forms.put("image/png", png(image));
            String size = image.getWidth() + "x" + image.getHeight();
            forms.put("text/plain", text("<" + value.getClass().getSimpleName() + " " + size + ">"));
            return forms;
        }
        Table table = Table.of(value);
        if (table != null) {
            forms.put("text/html", text(table.html()));
            forms.put("text/plain", text(table.plain()));
            forms.put(TABLE, text(table.record()));
        }
        return forms;
    }

    /** Returns what is said about a value that has forms, as JSON. */
    public static String metadata(Object value) {
        boolean chart = isA(value, JFREECHART) || isA(value, XCHART);
        Map<String, Object> claims = new LinkedHashMap<>();
        if (chart) {
            claims.put("kind", "plot");
            claims.put("source", isA(value, XCHART) ? "xchart" : "jfreechart");
        }
        return Json.write(chart ? Map.of("llm_sandbox", claims) : claims);
    }

    static byte[] text(String value) {
        return value.getBytes(StandardCharsets.UTF_8);
    }

    private static RenderedImage draw(Object value, int width, int height) {
        if (value instanceof RenderedImage) {
            return (RenderedImage) value;
        }
        try {
            if (isA(value, JFREECHART)) {
                return (BufferedImage) value.getClass()
                    .getMethod("createBufferedImage", int.class, int.class)
                    .invoke(value, width > 0 ? width : 800, height > 0 ? height : 500);
            }
            if (isA(value, XCHART)) {
                ClassLoader loader = value.getClass().getClassLoader();
                Class<?> type = Class.forName(XCHART, true, loader);
                Method draw = Class.forName(XCHART_WRITER, true, loader)
                    .getMethod("getBufferedImage", type);
                return (BufferedImage) draw.invoke(null, value);
            }
        } catch (InvocationTargetException failed) {
            throw new IllegalArgumentException("the chart cannot be drawn", failed.getCause());
        } catch (ReflectiveOperationException other) {
            throw new IllegalArgumentException("a chart of an unknown version", other);
        }
        return null;
    }

    private static boolean isA(Object value, String name) {
        for (Class<?> c = value == null ? null : value.getClass(); c != null;
                c = c.getSuperclass()) {
            if (c.getName().equals(name)) {
                return true;
            }
        }
        return false;
    }

    private static byte[] png(RenderedImage image) {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        try {
            ImageIO.setUseCache(false);
            if (!ImageIO.write(image, "png", content)) {
                throw new IllegalArgumentException("an image of a kind that PNG does not have");
            }
        } catch (IOException impossible) {
            throw new IllegalStateException(impossible);
        }
        return content.toByteArray();
    }
}
