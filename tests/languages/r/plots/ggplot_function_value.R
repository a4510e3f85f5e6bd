# expects: image/png
# needs: ggplot2
library(ggplot2)
show_cars <- function(data) ggplot(data, aes(wt, mpg)) + geom_smooth(method = "lm", formula = y ~ x)
show_cars(mtcars)
