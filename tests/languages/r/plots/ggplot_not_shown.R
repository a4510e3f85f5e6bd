# expects:
# needs: ggplot2
library(ggplot2)
plot <- ggplot(mtcars, aes(wt, mpg)) + geom_point()
for (place in 1:2) plot
