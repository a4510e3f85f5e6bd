// expects: image/png
import java.awt.*;
import java.awt.image.BufferedImage;

var image = new BufferedImage(400, 80, BufferedImage.TYPE_INT_RGB);
var pen = image.createGraphics();
pen.setFont(new Font(Font.SANS_SERIF, Font.BOLD, 28));
pen.drawString("Héllo, fonts: " + pen.getFontMetrics().getHeight() / 10, 20, 50);
pen.dispose();
Display.show(image);
