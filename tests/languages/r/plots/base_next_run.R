# expects: image/png image/png image/png
plot(1:3)
# %%
cat("nothing is drawn here\n")
# %%
lines(3:1)
# %%
plot(10:1)
