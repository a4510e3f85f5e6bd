# expects: image/png image/png image/png
# needs: ggplot2
library(ggplot2)
p <- ggplot(mtcars, aes(factor(cyl)))
p + geom_bar()
p + geom_bar(aes(fill = factor(gear)), position = "dodge") + facet_wrap(~am)
ggplot(mtcars, aes(mpg)) + geom_histogram(bins = 8) + theme_minimal()
