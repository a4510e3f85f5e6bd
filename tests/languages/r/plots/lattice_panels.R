# expects: image/png
# needs: lattice
library(lattice)
print(xyplot(1:3 ~ 1:3), split = c(1, 1, 2, 1), more = TRUE)
print(xyplot(3:1 ~ 1:3), split = c(2, 1, 2, 1))
