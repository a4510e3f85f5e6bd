# expects: image/png image/png
draw <- function(count) {
  plot(seq_len(count), main = count)
  mtext("drawn in a function")
  invisible(NULL)
}
draw(3)
draw(8)
