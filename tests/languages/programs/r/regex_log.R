# A log read by regular expressions.
lines <- c(
  "2024-03-01 10:15:32 ERROR [db] connection lost (code=17)",
  "2024-03-01 10:15:40 INFO  [web] GET /index.html 200",
  "2024-03-01 10:16:02 ERROR [web] timeout (code=408)",
  "not a log line"
)
pattern <- "^(\\S+) (\\S+) (\\w+) +\\[(\\w+)\\] (.*)$"
parts <- regmatches(lines, regexec(pattern, lines))
for (part in parts) {
  if (length(part) == 0) {
    cat("skipped\n")
    next
  }
  code <- sub(".*code=(\\d+).*", "\\1", part[6])
  cat(part[4], part[5], if (code == part[6]) "-" else code, sep = "|")
  cat("\n")
}
masked <- gsub("(\\d{2}):(\\d{2}):(\\d{2})", "\\1h\\2", lines[1:3], perl = TRUE)
cat(substr(masked, 12, 17), sep = "\n")
