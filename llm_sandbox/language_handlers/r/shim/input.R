# Standard input of a run: R's "console" is the input of the run.

opened_input <- NULL

console <- function() {
  usable <- !is.null(opened_input) && tryCatch(isOpen(opened_input), error = function(e) FALSE)
  if (!usable) opened_input <<- file("stdin", "r")
  opened_input
}

# The next run has an input of its own, and what was read ahead belongs to this one.
forget_input <- function() {
  if (!is.null(opened_input)) try(close(opened_input), silent = TRUE)
  opened_input <<- NULL
}

ask <- function(prompt = "") {
  cat(prompt)
  line <- readLines(console(), 1L, warn = FALSE)
  if (length(line)) line else ""
}

replace_input <- function() {
  parser <- base::parse
  replace_in_base("stdin", function() {
    # It asks for the name only, and must not be given another connection.
    if (identical(sys.function(-1L), parser)) originals[["stdin"]]() else console()
  })
  replace_in_base("readline", ask)
  scanner <- base::scan
  body(scanner) <- call(
    "{", quote(if (identical(file, "") && missing(text)) file <- stdin()), body(base::scan)
  )
  replace_in_base("scan", scanner)
  replace_in_base("closeAllConnections", function() {
    # As R's own, but for what we talk to the kernel through.
    while (sink.number() > 0L) sink()
    if (sink.number(type = "message") != 2L) sink(type = "message")
    spared <- vapply(Filter(Negate(is.null), list(requests, answers)), as.integer, 0L)
    for (number in setdiff(getAllConnections(), c(0:2, spared))) close(getConnection(number))
    invisible()
  })
}
