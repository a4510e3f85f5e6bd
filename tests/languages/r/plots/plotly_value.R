# expects: text/html
# needs: plotly
suppressPackageStartupMessages(library(plotly))
plot_ly(x = 1:3, y = c(2, 1, 3), type = "scatter", mode = "lines+markers")
