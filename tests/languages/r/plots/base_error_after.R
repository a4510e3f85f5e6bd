# expects: image/png
# error: Error
plot(1:3)
stop("after the plot")
