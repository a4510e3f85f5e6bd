# expects: image/png image/png
plot(1:3)
# %%
dev.off()
plot(3:1)
