# expects: image/png
par(mfrow = c(1, 3))
plot(1:3)
plot(3:1)
