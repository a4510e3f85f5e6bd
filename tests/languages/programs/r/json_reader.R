# JSON read by recursive descent.
read_json <- function(text) {
  at <- 1
  peek <- function() substr(text, at, at)
  skip <- function() while (grepl("^[ \n\t]$", peek())) at <<- at + 1
  expect <- function(mark) {
    skip()
    if (peek() != mark) stop("expected ", mark, " at ", at)
    at <<- at + 1
  }
  string <- function() {
    expect("\"")
    from <- at
    while (peek() != "\"") at <<- at + if (peek() == "\\") 2 else 1
    at <<- at + 1
    gsub("\\\"", "\"", substr(text, from, at - 2), fixed = TRUE)
  }
  many <- function(end, one) {
    at <<- at + 1
    skip()
    found <- list()
    while (peek() != end) {
      found <- c(found, one())
      skip()
      if (peek() == ",") at <<- at + 1
      skip()
    }
    at <<- at + 1
    found
  }
  value <- function() {
    skip()
    mark <- peek()
    if (mark == "\"") return(string())
    if (mark == "[") return(many("]", function() list(value())))
    if (mark == "{") {
      return(many("}", function() {
        key <- string()
        expect(":")
        stats::setNames(list(value()), key)
      }))
    }
    word <- regmatches(rest <- substring(text, at), regexpr("^[-+.0-9A-Za-z]+", rest))
    at <<- at + nchar(word)
    switch(word, true = TRUE, false = FALSE, null = NULL, as.numeric(word))
  }
  value()
}

found <- read_json(paste0(
  '{"name": "R", "tags": ["a", "say \\"b\\""],',
  ' "size": {"w": 3, "h": -1.5e2}, "ok": true}'
))
cat(found$name, found$tags[[2]], found$size$h, found$ok, "\n")
cat(tryCatch(read_json("{\"a\" 1}"), error = conditionMessage), "\n")
str(found)
