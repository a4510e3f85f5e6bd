#!/usr/bin/env -S java -Djava.awt.headless=true --class-path /usr/share/java/jfreechart.jar:/usr/share/java/jcommon.jar --source 17
// Fails unless the image holds what a Java session needs; runs inside the finished image.

import java.awt.Font;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import javax.tools.ToolProvider;
import jdk.jshell.JShell;
import jdk.jshell.SnippetEvent;
import org.jfree.chart.ChartFactory;
import org.jfree.data.category.DefaultCategoryDataset;

class Smoke {
    record Point(int x, int y) {}

    static void check(boolean holds, String complaint) {
        if (!holds) {
            System.err.println(complaint);
            System.exit(1);
        }
    }

    public static void main(String[] arguments) throws Exception {
        check(ToolProvider.getSystemJavaCompiler() != null, "there is no compiler");
        check(new ProcessBuilder("javac", "-version").start().waitFor() == 0, "javac fails");
        check(IntStream.range(0, 100).parallel().sum() == 4950, "streams");
        check(new Point(1, 2).equals(new Point(1, 2)), "records");

        try (JShell shell = JShell.builder().executionEngine("local").build()) {
            List<SnippetEvent> events = shell.eval("6 * 7");
            check("42".equals(events.get(0).value()), "JShell says " + events);
        }

        DefaultCategoryDataset data = new DefaultCategoryDataset();
        data.addValue(3, "row", "column");
        BufferedImage image =
                ChartFactory.createBarChart("Größe", "x", "y", data).createBufferedImage(320, 240);
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        check(ImageIO.write(image, "png", written), "PNG cannot be written");
        check(written.size() > 2000, "the chart is blank");
        check(new Font("DejaVu Sans", Font.PLAIN, 12).canDisplay('ö'), "there are no fonts");
        System.out.println("java  " + Runtime.version());
    }
}
