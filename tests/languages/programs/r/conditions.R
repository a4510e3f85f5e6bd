# Errors, warnings, messages, and restarts of one's own.
parse_number <- function(text) {
  withRestarts(
    {
      number <- suppressWarnings(as.numeric(text))
      if (is.na(number)) {
        stop(structure(
          class = c("bad_number", "error", "condition"),
          list(message = paste("not a number:", text), call = NULL, text = text)
        ))
      }
      number
    },
    use_value = function(value) value
  )
}

found <- withCallingHandlers(
  vapply(c("1", "two", "3"), parse_number, 0),
  bad_number = function(condition) {
    cat("handled:", condition$text, "\n")
    invokeRestart("use_value", -1)
  }
)
print(found)
caught <- tryCatch(
  {
    warning("careful")
    "not reached"
  },
  warning = function(w) paste("warning:", conditionMessage(w)),
  finally = cat("cleaned up\n")
)
cat(caught, "\n")
log <- character()
withCallingHandlers(
  {
    message("one")
    message("two")
  },
  message = function(m) {
    log <<- c(log, trimws(conditionMessage(m)))
    invokeRestart("muffleMessage")
  }
)
cat(log, sep = ", ")
cat("\n")
