# expects: image/png
plot(1:10, (1:10)^2, main = "Squares", xlab = "n", ylab = "n squared")
