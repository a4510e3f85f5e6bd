# expects: image/png image/png image/png
# needs: lattice
library(lattice)
for (name in c("mpg", "wt", "hp")) print(histogram(mtcars[[name]], xlab = name))
