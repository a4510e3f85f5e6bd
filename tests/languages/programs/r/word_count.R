# The most frequent words of a text.
text <- "The quick brown fox jumps over the lazy dog. The dog barks; the fox runs away!"
words <- tolower(unlist(regmatches(text, gregexpr("[A-Za-z]+", text))))
counts <- table(words)
order <- order(-counts, names(counts))
for (place in head(order, 4)) {
  cat(sprintf("%-6s %d\n", names(counts)[place], counts[place]))
}
cat("different words:", length(counts), "\n")
