# expects: image/png
plot(1:3)
graphics.off()
