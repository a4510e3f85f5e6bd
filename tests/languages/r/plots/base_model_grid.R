# expects: image/png
par(mfrow = c(2, 2))
plot(lm(mpg ~ wt, mtcars))
