# expects: image/png
library(grid)
grid.rect(width = 0.5)
cat("text between\n")
grid.text("more")
