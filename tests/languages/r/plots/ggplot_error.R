# expects: image/png
# error: any
# needs: ggplot2
library(ggplot2)
ggplot(mtcars, aes(wt, mpg)) + geom_point()
ggplot(mtcars, aes(missing_column, mpg)) + geom_point()
