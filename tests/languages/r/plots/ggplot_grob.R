# expects: image/png
# needs: ggplot2
library(ggplot2)
library(grid)
g <- ggplotGrob(ggplot(mtcars, aes(wt, mpg)) + geom_point())
grid.newpage()
grid.draw(g)
