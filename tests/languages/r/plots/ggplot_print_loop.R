# expects: image/png image/png
# needs: ggplot2
library(ggplot2)
for (name in c("wt", "hp")) {
  print(ggplot(mtcars, aes(.data[[name]], mpg)) + geom_point())
}
