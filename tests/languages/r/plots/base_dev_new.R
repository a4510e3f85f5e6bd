# expects: image/png image/png
# size: 576x576 1008x720
dev.new(width = 4, height = 4)
plot(1:3)
dev.new()
plot(3:1)
