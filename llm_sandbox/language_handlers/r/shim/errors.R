# Error reports: R's message, and the location in the user's code.

most_frames <- 50L

# The code of the run, which lines are counted in.
source_file <- NULL

one_line <- function(call) paste(trimws(deparse(call, nlines = 1L)), collapse = " ")

is_ours <- function(reference) {
  !is.null(reference) && identical(attr(reference, "srcfile"), source_file)
}

# R's message: "Error in f(x) : message", on two lines where that is too long for one.
error_text <- function(condition) {
  message <- message_of(condition)
  call <- conditionCall(condition)
  if (is.null(call)) return(paste0("Error: ", message))
  words <- one_line(call)
  first <- strsplit(message, "\n", fixed = TRUE)[[1L]][1L]
  width <- 14L + nchar(words, type = "w") + nchar(first, type = "w")
  paste0("Error in ", words, " : ", if (is.na(width) || width > 77L) "\n  ", message)
}

# Conditions of the user's own making may have none, or several.
message_of <- function(condition) {
  paste(as.character(conditionMessage(condition)), collapse = "\n")
}

error_name <- function(condition) {
  name <- class(condition)[[1L]]
  # What R itself calls it when it reports it.
  if (name %in% c("simpleError", "error")) "Error" else name
}

# The calls of the user's code on the way to an error, outermost first: what was called, and where
# it then was. What called the handler stands at the place that failed.
user_frames <- function(calls, depth) {
  if (length(calls) <= depth) return(list())
  calls <- calls[(depth + 1L):length(calls)]
  names <- vapply(calls, function(call) {
    if (is.symbol(call[[1L]])) as.character(call[[1L]]) else one_line(call[[1L]])
  }, "")
  # What tells of an error is not where it is.
  signals <- c(
    "stop", ".handleSimpleError", "abort", "rlang::abort", "base::stop", "warning", "stopifnot",
    ".signalSimpleWarning", "signal_abort"
  )
  end <- match(TRUE, names %in% signals, nomatch = length(calls) + 1L)
  places <- lapply(calls[seq_len(min(end, length(calls)))], attr, "srcref")
  bare <- function(call) {
    if (!is.null(call)) attr(call, "srcref") <- NULL
    call
  }
  frames <- list()
  for (index in seq_len(min(end, length(places) + 1L))) {
    place <- if (index <= length(places)) places[[index]]
    name <- if (index > 1L) names[[index - 1L]] else ""
    call <- if (index > 1L) calls[[index - 1L]]
    into <- if (index <= length(calls) && names[[index]] != ".handleSimpleError") calls[[index]]
    frames[[index]] <- list(name = name, call = bare(call), into = bare(into), place = place)
  }
  frames
}

# Return the position in an expression of the statement that holds a call; NULL if there is none.
find_call <- function(expression, call) {
  if (!is.call(expression)) return(NULL)
  places <- if (identical(expression[[1L]], quote(`{`))) attr(expression, "srcref")
  for (index in seq_along(expression)[-1L]) {
    part <- expression[[index]]
    if (missing(part)) next
    inner <- find_call(part, call)
    if (!is.null(inner)) return(inner)
    if (length(places) >= index && holds(part, call)) return(places[[index]])
  }
  NULL
}

holds <- function(part, call) {
  if (identical(part, call)) return(TRUE)
  if (!is.call(part)) return(FALSE)
  for (index in seq_along(part)) {
    inner <- part[[index]]
    if (!missing(inner) && holds(inner, call)) return(TRUE)
  }
  FALSE
}

# Return the record of an error: its text, its frames, and its line in the user's code. `frames`
# are of `user_frames`; `expression` and `place` are of the one that was being evaluated.
describe_error <- function(condition, frames, expression, place) {
  call <- conditionCall(condition)
  if (!length(frames)) frames <- list(list(name = "", call = NULL, place = NULL))
  if (is.null(frames[[1L]]$place)) {
    into <- if (is.null(frames[[1L]]$into)) call else frames[[1L]]$into
    found <- if (!is.null(into)) find_call(expression, into)
    frames[[1L]]$place <- if (is.null(found)) place else found
  }
  ours <- Filter(function(frame) is_ours(frame$place), frames)
  if (length(ours)) place <- ours[[length(ours)]]$place
  left_out <- length(frames) - most_frames
  if (left_out > 0L) frames <- c(utils::head(frames, 10L), utils::tail(frames, most_frames - 10L))
  at <- sprintf("At %s:%d: %s", file_of(place), place[[1L]], line_at(place))
  text <- c(error_text(condition), trace_lines(frames), at)
  list(text = paste(text, collapse = "\n"), frames = frames, line = place[[1L]])
}

tell_error <- function(condition, frames, expression, place) {
  found <- describe_error(condition, frames, expression, place)
  tell("error", list(
    name = error_name(condition), value = message_of(condition), traceback = found$text,
    line = as.character(found$line), type = "exception",
    frames = to_json(lapply(found$frames, frame_record))
  ))
}

trace_lines <- function(frames) {
  calls <- frames[-1L]
  if (!length(calls)) return(character())
  lines <- vapply(seq_along(calls), function(index) {
    place <- frames[[index]]$place
    at <- if (!is.null(place)) sprintf("   # %s:%d", file_of(place), place[[1L]]) else ""
    sprintf("%d. %s%s", index, one_line(calls[[index]]$call), at)
  }, "")
  c("Traceback:", lines)
}

file_of <- function(place) {
  name <- attr(place, "srcfile")$filename
  if (is.null(name)) "" else name
}

line_at <- function(place) {
  line <- place[[1L]]
  lines <- tryCatch(getSrcLines(attr(place, "srcfile"), line, line), error = function(e) "")
  substr(trimws(paste(lines, collapse = "")), 1L, 500L)
}

frame_record <- function(frame) {
  place <- frame$place
  if (is.null(place)) return(list(file = "", `function` = frame$name, source = ""))
  list(
    file = file_of(place), line = place[[1L]], `function` = frame$name, source = line_at(place)
  )
}

tell_syntax_error <- function(condition, lines) {
  message <- conditionMessage(condition)
  place <- regmatches(message, regexec("^[^\n]*?:([0-9]+):([0-9]+): ([^\n]*)", message))[[1L]]
  fields <- list(name = "SyntaxError", value = message, traceback = paste0("Error: ", message))
  if (length(place) == 4L) {
    line <- as.integer(place[[2L]])
    column <- as.integer(place[[3L]])
    if (line > length(lines) || column == 0L) {
      line <- max(1L, min(line, length(lines)))
      column <- nchar(lines[line]) + 1L
    }
    fields <- c(fields, list(line = as.character(line), column = as.character(column)))
    fields$value <- place[[4L]]
  }
  tell("error", c(fields, list(type = "syntax")))
}

without_call <- function(condition) {
  condition["call"] <- list(NULL)
  condition
}
