# expects: image/png
# error: Error
plot(1:3)
lines(1:3, 1:2)
