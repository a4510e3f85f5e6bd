# expects: image/png image/png
plot(1:3)
lines(3:1)
kept <- recordPlot()
plot(5:1)
# %%
invisible(kept)
