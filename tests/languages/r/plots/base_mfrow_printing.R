# expects: image/png
par(mfrow = c(1, 2))
plot(1:3)
cat("between the panels\n")
plot(3:1)
cat("after\n")
