# expects: image/png
# size: 1728x576
options(repr.plot.width = 12, repr.plot.height = 4)
plot(1:10)
