# expects: image/png image/png image/png
par(mfrow = c(1, 2))
plot(1:3)
dev.off()
plot(3:1)
plot(2:4)
