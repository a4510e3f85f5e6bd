# expects: image/png image/png image/png
plot(1:3)
kept <- recordPlot()
plot(5:1)
replayPlot(kept)
