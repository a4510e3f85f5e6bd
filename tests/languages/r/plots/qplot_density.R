# expects: image/png image/png
# needs: ggplot2
library(ggplot2)
ggplot(iris, aes(Sepal.Length, fill = Species)) + geom_density(alpha = 0.4)
ggplot(iris, aes(Species, Sepal.Length)) + geom_boxplot() + coord_flip()
