# Runner of a whole script, as R runs it, but with line numbers of errors.
#
# R parses a script expression by expression and loses the positions. Here it is parsed as a whole
# first; a script that does not parse is left to R, which runs the part before the error.

offer_main <- function() {
  path <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  if (length(path) != 1L) return()
  path <- gsub("~+~", " ", path, fixed = TRUE)
  # R calls it when it has started.
  assign(".First", function() {
    rm(".First", envir = globalenv())
    .First.sys()
    run_main(path)
  }, envir = globalenv())
}

run_main <- function(path) {
  lines <- readLines(path, warn = FALSE, encoding = "UTF-8")
  source_file <<- srcfilecopy(basename(path), lines)
  parsed <- tryCatch(
    parse(text = lines, srcfile = source_file, keep.source = TRUE, encoding = "UTF-8"),
    error = function(e) NULL
  )
  if (is.null(parsed)) return(invisible())
  replace_depth()
  replace_warnings()
  places <- attr(parsed, "srcref")
  user_globals <- globalenv()
  at <- 1L
  on_error <- function(condition) {
    if (is_only_signalled(sys.function(-1L))) return()
    frames <- user_frames(sys.calls(), depth)
    if (at_top(conditionCall(condition))) condition <- without_call(condition)
    print_warnings()
    found <- describe_error(condition, frames, parsed[[at]], places[[at]])
    cat(found$text, "\n", sep = "", file = stderr())
    wanted <- getOption("error")
    if (is.null(wanted)) cat("Execution halted\n", file = stderr()) else eval(wanted, globalenv())
    quit("no", 1L, FALSE)
  }
  one_by_one <- function() {
    for (index in seq_along(parsed)) {
      at <<- index
      user_expression <- outermost(parsed[[index]])
      depth <<- sys.nframe() + calls_between
      found <- withVisible(eval(user_expression, user_globals))
      if (found$visible) print_value(found$value)
      print_warnings()
    }
  }
  withCallingHandlers(one_by_one(), error = on_error, warning = on_warning)
  quit("no")
}
