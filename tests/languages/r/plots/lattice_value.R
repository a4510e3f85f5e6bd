# expects: image/png image/png
# needs: lattice
library(lattice)
xyplot(mpg ~ wt | factor(cyl), mtcars)
bwplot(~ mpg, mtcars)
