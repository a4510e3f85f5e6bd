# expects:
invisible(par("mar"))
dev.new()
plot.new()
