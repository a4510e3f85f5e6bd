# expects: image/png
plot(1:3)
cat("text between\n")
lines(3:1, col = "red")
