# expects: image/png image/png
# order: text plot text plot text
cat("one\n")
plot(1:3)
cat("two\n")
plot(3:1)
cat("three\n")
