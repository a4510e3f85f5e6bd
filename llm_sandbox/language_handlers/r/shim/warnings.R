# Warnings, collected until the expression that raised them has ended and then printed as R does.

most_warnings <- 50L

kept_warnings <- list()
warnings_given <- 0L

# Replacement of R's function of that name.
last_warnings <- NULL

replace_warnings <- function() {
  replace_in_base("warnings", function(...) {
    if (length(last_warnings)) {
      structure(last_warnings, dots = list(...), class = "warnings")
    } else {
      originals[["warnings"]](...)
    }
  })
}

keep_warning <- function(condition) {
  warnings_given <<- warnings_given + 1L
  if (warnings_given > most_warnings) return()
  call <- conditionCall(condition)
  kept <- list(if (!at_top(call)) call)
  names(kept) <- conditionMessage(condition)
  kept_warnings <<- c(kept_warnings, kept)
}

print_warnings <- function() {
  # Those that came when no code of the user's ran.
  .Internal(printDeferredWarnings())
  given <- warnings_given
  if (!given) return()
  kept <- kept_warnings
  kept_warnings <<- list()
  warnings_given <<- 0L
  last_warnings <<- kept
  words <- if (given > most_warnings) {
    sprintf(
      "There were %d or more warnings (use warnings() to see the first %d)",
      most_warnings, most_warnings
    )
  } else if (given > 10L) {
    sprintf("There were %d warnings (use warnings() to see them)", given)
  } else if (given > 1L) {
    c("Warning messages:", paste0(seq_len(given), ": ", warning_texts(kept, 3L)))
  } else {
    c("Warning message:", warning_texts(kept, 0L))
  }
  # Past a sink of the user's, and after what was printed.
  flush(base::stdout())
  cat(words, sep = "\n", file = stderr())
}

warning_texts <- function(kept, before) {
  vapply(seq_along(kept), function(index) {
    message <- names(kept)[[index]]
    call <- kept[[index]]
    if (is.null(call)) return(paste0(message, " "))
    words <- deparse(call, nlines = 2L)
    first <- strsplit(message, "\n", fixed = TRUE)[[1L]][1L]
    width <- before + 6L + nchar(words[[1L]], type = "w") + nchar(first, type = "w")
    paste0(
      "In ", words[[1L]], if (length(words) > 1L) " ...", " :",
      if (is.na(width) || width > 77L) "\n  " else " ", message
    )
  }, "")
}
