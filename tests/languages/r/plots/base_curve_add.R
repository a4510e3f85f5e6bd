# expects: image/png
curve(sin, 0, 10)
curve(cos, 0, 10, add = TRUE, col = 2)
