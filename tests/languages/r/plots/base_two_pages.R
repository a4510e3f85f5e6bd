# expects: image/png image/png
plot(1:5)
hist(c(1, 2, 2, 3, 3, 3, 4))
