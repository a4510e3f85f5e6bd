# expects: image/png
layout(matrix(c(1, 1, 2, 3), 2, byrow = TRUE))
plot(1:10)
plot(10:1)
plot(c(1, 5, 2))
