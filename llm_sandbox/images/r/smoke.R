#!/usr/bin/env Rscript
# Fails unless the image holds what an R session needs; runs inside the finished image.

options(warn = 2)
packages <- c("dplyr", "ggplot2", "grid", "jsonlite", "lattice", "parallel", "svglite", "tidyr")
for (name in packages) {
  suppressPackageStartupMessages(library(name, character.only = TRUE))
  cat(sprintf("%-9s %s\n", name, packageVersion(name)))
}
stopifnot(capabilities("cairo"), capabilities("png"), l10n_info()$`UTF-8`)
stopifnot(identical(fromJSON('{"a": [1, 2]}')$a, 1:2))

drawn <- function(draw, open, name) {
  open(name)
  draw()
  dev.off()
  stopifnot(file.size(name) > 1000)
  unlink(name)
}
points <- data.frame(x = 1:10, y = (1:10)^2)
base <- function() plot(points, main = "Größe ✓")
gg <- function() print(ggplot(points, aes(x, y)) + geom_line())
trellis <- function() print(xyplot(y ~ x, points))
for (draw in list(base, gg, trellis)) {
  drawn(draw, function(name) png(name, type = "cairo"), "smoke.png")
  drawn(draw, function(name) svglite(name), "smoke.svg")
}
stopifnot(!file.exists("Rplots.pdf"))
cat(R.version.string, "\n")
