# expects: image/png
x <- seq(0, 2 * pi, length.out = 100)
plot(x, sin(x), type = "l", col = "blue")
lines(x, cos(x), col = "red")
points(pi, 0, pch = 19)
abline(h = 0, lty = 2)
text(pi, 0.2, "pi")
legend("topright", legend = c("sin", "cos"), col = c("blue", "red"), lty = 1)
