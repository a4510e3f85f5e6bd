# expects: image/png image/png image/png
pairs(iris[1:3])
coplot(mpg ~ wt | factor(cyl), mtcars)
mosaicplot(Titanic[, , 1, 1])
