# expects: image/png image/png image/png image/png
for (power in 1:4) {
  plot(1:10, (1:10)^power, main = paste("Power", power))
  grid()
}
