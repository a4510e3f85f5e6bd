# expects: image/png image/png
tree <- hclust(dist(USArrests[1:10, ]))
plot(tree)
rect.hclust(tree, 3)
heatmap(as.matrix(mtcars[1:8, 1:5]))
