# expects:
# files: cars.png
# needs: ggplot2
library(ggplot2)
p <- ggplot(mtcars, aes(wt, mpg)) + geom_point()
ggsave("cars.png", p, width = 4, height = 3, dpi = 100)
