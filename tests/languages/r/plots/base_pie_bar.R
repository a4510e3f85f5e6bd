# expects: image/png image/png image/png
pie(c(a = 1, b = 2, c = 3))
heights <- barplot(c(3, 5, 2), names.arg = c("x", "y", "z"))
text(heights, 1, c(3, 5, 2))
dotchart(c(one = 1, two = 2))
