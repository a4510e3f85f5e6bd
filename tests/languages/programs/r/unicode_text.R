# Text beyond ASCII: lengths, cases, code points.
words <- c("Straße", "naïve", "日本語", "🎉 fête")
for (word in words) {
  cat(word, nchar(word), nchar(word, "bytes"), toupper(word), "\n")
}
cat(utf8ToInt("é"), intToUtf8(c(72, 228, 8364)), "\n")
cat(rev(strsplit("añb", "")[[1]]), sep = "")
cat("\n")
cat(grepl("^\\p{L}+$", c("日本語", "a1"), perl = TRUE), "\n")
cat(sort(c("b", "a", "B", "A"), method = "radix"), "\n")
