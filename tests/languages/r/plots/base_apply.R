# expects: image/png image/png image/png
invisible(lapply(split(mtcars, mtcars$cyl), function(cars) {
  plot(cars$wt, cars$mpg)
  abline(lm(mpg ~ wt, cars))
}))
