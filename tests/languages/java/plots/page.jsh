// expects: image/svg+xml text/html image/png
import java.awt.image.BufferedImage;

Display.svg("""
    <svg xmlns="http://www.w3.org/2000/svg" width="100" height="100">
      <circle cx="50" cy="50" r="40" fill="teal"/>
      <path d="M 10 90 L 50 10 L 90 90 Z" fill="none" stroke="black"/>
    </svg>""");
Display.html("<p>Between <b>two</b> pictures, <i>a paragraph of text that is long enough.</i></p>");
var noise = new BufferedImage(64, 64, BufferedImage.TYPE_BYTE_GRAY);
var random = new Random(3);
for (int i = 0; i < 64 * 64; i++) {
    noise.getRaster().setSample(i % 64, i / 64, 0, random.nextInt(256));
}
noise;
