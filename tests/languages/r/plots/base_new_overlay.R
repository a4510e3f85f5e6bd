# expects: image/png
plot(1:10, type = "h")
par(new = TRUE)
plot(10:1, axes = FALSE, type = "l", ann = FALSE)
axis(4)
