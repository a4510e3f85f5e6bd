# expects: image/png
# files: copy.pdf
plot(1:3)
# %%
dev.copy(pdf, "copy.pdf")
invisible(dev.off())
