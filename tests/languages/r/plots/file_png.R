# expects:
# files: mine.png
png("mine.png", width = 600, height = 400)
plot(1:10)
dev.off()
