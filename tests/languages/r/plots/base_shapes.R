# expects: image/png
plot.new()
plot.window(c(0, 10), c(0, 10), asp = 1)
rect(1, 1, 4, 4, col = "tomato")
polygon(c(5, 7, 9), c(1, 6, 1), col = "gold")
symbols(3, 8, circles = 1, add = TRUE, inches = FALSE)
segments(0, 0, 10, 10)
arrows(8, 8, 9, 9)
title("Shapes")
