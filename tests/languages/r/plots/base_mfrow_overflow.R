# expects: image/png image/png
par(mfrow = c(1, 2))
for (place in 1:3) plot(seq_len(place + 1), main = place)
