# expects: image/png
# needs: ggplot2
library(ggplot2)
ggplot(mtcars, aes(wt, mpg, colour = factor(cyl))) + geom_point() + labs(title = "Cars")
