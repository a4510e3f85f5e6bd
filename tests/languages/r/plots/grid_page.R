# expects: image/png image/png
library(grid)
grid.newpage()
pushViewport(viewport(width = 0.8, height = 0.8))
grid.rect(gp = gpar(fill = "lightblue"))
grid.text("grid", gp = gpar(fontsize = 40))
popViewport()
grid.newpage()
grid.circle(gp = gpar(col = "red", lwd = 5))
