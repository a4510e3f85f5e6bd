# expects: image/png
plot(1:3, main = "Größe in µm, naïve ✓", xlab = "été")
text(2, 2, expression(alpha^2 + sqrt(beta)))
