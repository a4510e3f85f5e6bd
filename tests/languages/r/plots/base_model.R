# expects: image/png image/png image/png image/png
plot(lm(mpg ~ wt, mtcars))
