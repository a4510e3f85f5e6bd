// expects: image/png image/jpeg
import java.awt.Color;
import java.awt.image.BufferedImage;
import java.io.File;
import java.io.IOException;
import javax.imageio.ImageIO;

/** Writes files, which are found without a helper. */
class Saved {
    public static void main(String[] args) throws IOException {
        BufferedImage image = new BufferedImage(160, 160, BufferedImage.TYPE_INT_RGB);
        for (int y = 0; y < 160; y++) {
            for (int x = 0; x < 160; x++) {
                double zx = 0;
                double zy = 0;
                int steps = 0;
                while (zx * zx + zy * zy < 4 && steps < 60) {
                    double next = zx * zx - zy * zy + (x - 110) / 60.0;
                    zy = 2 * zx * zy + (y - 80) / 60.0;
                    zx = next;
                    steps++;
                }
                image.setRGB(x, y, Color.HSBtoRGB(steps / 60f, 0.7f, steps < 60 ? 1 : 0));
            }
        }
        ImageIO.write(image, "png", new File("a_fractal.png"));
        ImageIO.write(image, "jpg", new File("b_fractal.jpg"));
    }
}
