// expects: image/png image/svg+xml image/png
import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import sandbox.Display;

public class Several {
    static BufferedImage waves(int width, int height, double speed) {
        BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        Graphics2D pen = image.createGraphics();
        pen.setColor(Color.CYAN);
        for (int x = 1; x < width; x++) {
            int from = (int) (height / 2.0 * (1 + 0.9 * Math.sin((x - 1) * speed)));
            int to = (int) (height / 2.0 * (1 + 0.9 * Math.sin(x * speed)));
            pen.drawLine(x - 1, from, x, to);
        }
        pen.dispose();
        return image;
    }

    public static void main(String[] args) {
        Display.show(waves(300, 120, 0.05));
        StringBuilder svg = new StringBuilder("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"120\" height=\"60\">");
        for (int i = 0; i < 10; i++) {
            svg.append(String.format("<rect x=\"%d\" y=\"%d\" width=\"10\" height=\"%d\"/>", i * 12, 60 - i * 6, i * 6));
        }
        Display.svg(svg.append("</svg>").toString());
        Display.show(waves(200, 80, 0.2));
    }
}
