# A text laid out in columns.
wrap <- function(text, width) {
  words <- strsplit(text, " +")[[1]]
  lines <- character()
  line <- ""
  for (word in words) {
    if (nchar(line) + nchar(word) + 1 > width && nzchar(line)) {
      lines <- c(lines, line)
      line <- word
    } else {
      line <- if (nzchar(line)) paste(line, word) else word
    }
  }
  c(lines, line)
}

text <- "Statistics is the grammar of science, and a language that helps us to read it well."
lines <- wrap(text, 24)
cat(formatC(lines, width = -24), sep = "|\n")
cat(formatC(lines[1:2], width = 24), sep = "|\n")
cat(toupper(substr(lines, 1, 1)), sep = "")
cat("\n", rev(strsplit("drawer", "")[[1]]), "\n", sep = "")
cat(chartr("abc", "xyz", "aabbcc"), sprintf("%05.1f|%+d|%e", pi, 42L, 12345.678), "\n")
