# expects: image/png text/html image/png
# needs: plotly
suppressPackageStartupMessages(library(plotly))
plot(1:3)
print(plot_ly(x = c("a", "b"), y = 1:2, type = "bar"))
plot(3:1)
