# expects: image/png image/png
par(bg = "lightyellow", mar = c(1, 1, 1, 1), mfrow = c(1, 2))
plot(1:3)
plot(3:1)
# %%
plot(1:3)
plot(3:1)
