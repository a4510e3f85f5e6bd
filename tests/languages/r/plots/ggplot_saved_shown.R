# expects: image/png
# files: cars.svg
# needs: ggplot2 svglite
library(ggplot2)
p <- ggplot(mtcars, aes(wt, mpg)) + geom_line()
print(p)
ggsave("cars.svg", width = 4, height = 3)
