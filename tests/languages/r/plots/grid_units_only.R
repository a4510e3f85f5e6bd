# expects:
library(grid)
width <- convertWidth(unit(1, "npc"), "inches", valueOnly = TRUE)
