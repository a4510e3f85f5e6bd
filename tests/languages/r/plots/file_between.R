# expects: image/png image/png
# files: mine.jpeg
plot(1:3)
jpeg("mine.jpeg")
plot(2:4)
dev.off()
lines(3:1)
plot(4:1)
