// expects: image/png
import java.awt.*;
import java.awt.geom.*;
import java.awt.image.BufferedImage;

var image = new BufferedImage(320, 200, BufferedImage.TYPE_INT_ARGB);
var pen = image.createGraphics();
pen.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
for (int i = 0; i < 12; i++) {
    pen.setColor(Color.getHSBColor(i / 12f, 0.8f, 0.9f));
    pen.fill(new Arc2D.Double(60, 10, 180, 180, i * 30, 30, Arc2D.PIE));
}
pen.dispose();
image
