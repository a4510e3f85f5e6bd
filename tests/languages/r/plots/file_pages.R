# expects:
# files: page1.png page2.png
png("page%d.png")
plot(1:3)
plot(3:1)
dev.off()
