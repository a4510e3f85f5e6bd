# expects: image/png image/png
# error: Error
for (place in 1:3) {
  plot(seq_len(place))
  lines(seq_len(place))
  if (place == 2) stop("in the loop")
}
