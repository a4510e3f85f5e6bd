# expects: image/png
set.seed(1)
values <- rnorm(200)
hist(values, freq = FALSE, col = "grey")
lines(density(values), lwd = 2)
rug(values)
