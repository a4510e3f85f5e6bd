# expects:
# files: mine.pdf mine.svg
pdf("mine.pdf")
plot(1:10)
plot(10:1)
dev.off()
svg("mine.svg")
plot(1:10)
invisible(dev.off())
