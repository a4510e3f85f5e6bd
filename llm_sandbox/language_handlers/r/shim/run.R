# Main loop of the shim: runs, environment variables, shutdown.

# Compiling our own functions on their way would make the first runs slow: the level is the user's
# only while the user's code is evaluated.
user_jit <- 3L

serve <- function() {
  user_jit <<- .Internal(enableJIT(0L))
  connect()
  replace_input()
  replace_quit()
  replace_warnings()
  replace_depth()
  replace_devices(tell_page)
  offer_widgets(tell_widget)
  unlockBinding(".Last.value", baseenv())
  answer("ready")
  repeat {
    message <- receive()
    if (is.null(message)) leave(0L)
    attend(message)
  }
}

attend <- function(message) {
  if (identical(message$kind, "run")) {
    run(message$code, message$number)
  } else if (identical(message$kind, "set")) {
    set_variable(message$name, message$value)
  }
}

set_variable <- function(name, value) {
  if (is.null(value)) {
    Sys.unsetenv(name)
  } else {
    do.call(Sys.setenv, stats::setNames(list(value), name))
  }
  # The loader read this variable when R was started, and does not look again.
  if (name == "LD_LIBRARY_PATH") load_libraries(strsplit(value, ":", fixed = TRUE)[[1]])
  if (name %in% c("R_LIBS", "R_LIBS_USER")) {
    folders <- strsplit(Sys.getenv(c("R_LIBS", "R_LIBS_USER")), ":", fixed = TRUE)
    .libPaths(unique(c(unlist(folders), .libPaths())))
  }
}

loader_path <- strsplit(Sys.getenv("LD_LIBRARY_PATH"), ":", fixed = TRUE)[[1]]

# What is loaded is found by its name when a package asks for it, wherever it lies.
load_libraries <- function(folders) {
  folders <- setdiff(folders, loader_path)
  loader_path <<- c(loader_path, folders)
  files <- list.files(folders, "[.]so([.][0-9]+)*$", full.names = TRUE)
  files <- unique(normalizePath(files[file.exists(files)]))
  # Some need others of them, and come after those.
  repeat {
    loads <- vapply(files, function(file) !inherits(try(dyn.load(file), TRUE), "try-error"), NA)
    if (!any(loads)) break
    files <- files[!loads]
  }
}

replace_quit <- function() {
  # The interpreter stays, and says with which status the code wanted to end.
  quit <- function(save = "default", status = 0, runLast = TRUE) {
    in_run <- !is.null(restart_named("llm_sandbox_exit"))
    if (Sys.getpid() != own_pid || !in_run) originals[["quit"]](save, status, runLast)
    if (identical(save, "yes")) save.image()
    if (runLast && exists(".Last", globalenv(), mode = "function")) get(".Last", globalenv())()
    invokeRestart("llm_sandbox_exit", status)
  }
  replace_in_base("quit", quit)
  replace_in_base("q", quit)
}

# An interrupt that came when nothing ran any more is nobody's.
drop_interrupt <- function() {
  tryCatch(allowInterrupts(Sys.sleep(0)), interrupt = function(e) NULL)
}

run <- function(code, number) {
  drop_interrupt()
  lines <- strsplit(gsub("\r\n?", "\n", code), "\n", fixed = TRUE)[[1L]]
  Encoding(lines) <- "UTF-8"
  source_file <<- srcfilecopy(paste0("<run ", number, ">"), lines)
  parsed <- tryCatch(
    parse(text = lines, srcfile = source_file, keep.source = TRUE, encoding = "UTF-8"),
    error = identity
  )
  if (inherits(parsed, "error")) {
    tell_syntax_error(parsed, lines)
    return(answer("done", list(status = "error")))
  }
  begin_pages()
  ending <- evaluate(parsed)
  .Internal(enableJIT(0L))
  # A copy of this process that the code has made must not speak in its place.
  if (Sys.getpid() != own_pid) tools::pskill(Sys.getpid(), 9L)
  print_warnings()
  guarded(finish_pages())
  if (!is.null(ending$tell)) guarded(ending$tell())
  forget_input()
  flush(base::stdout())
  drop_interrupt()
  answer("done", ending$fields)
}

# Objects of the user's take part in what is told: one that cannot be told is a message, and not the
# end of the interpreter.
guarded <- function(expression) {
  tryCatch(expression, error = function(e) {
    words <- tryCatch(conditionMessage(e), error = function(e) "an error that cannot be described")
    tell("error", list(name = "Error", value = words, traceback = paste0("Error: ", words)))
  })
}

# Evaluate the expressions; returns how it ended.
evaluate <- function(parsed) {
  places <- attr(parsed, "srcref")
  at <- 1L
  user_globals <- globalenv()
  one_by_one <- function() {
    for (index in seq_along(parsed)) {
      at <<- index
      before_expression(parsed[[index]])
      user_expression <- outermost(parsed[[index]])
      depth <<- sys.nframe() + calls_between
      .Internal(enableJIT(user_jit))
      found <- withVisible(eval(user_expression, user_globals))
      user_jit <<- .Internal(enableJIT(0L))
      assign(".Last.value", found$value, envir = baseenv())
      is_last <- index == length(parsed)
      if (found$visible) show_value(found$value, is_last)
      print_warnings()
      after_expression(if (!is_last) parsed[[index + 1L]])
    }
    list(fields = list(status = "ok"))
  }
  on_error <- function(condition) {
    if (is_only_signalled(sys.function(-1L))) return()
    frames <- user_frames(sys.calls(), depth)
    invokeRestart("llm_sandbox_error", condition, frames)
  }
  failed <- function(condition, frames) {
    if (at_top(conditionCall(condition))) condition <- without_call(condition)
    list(
      fields = list(status = "error"),
      tell = function() tell_error(condition, frames, parsed[[at]], places[[at]])
    )
  }
  tryCatch(
    withRestarts(
      withCallingHandlers(
        allowInterrupts(one_by_one()), error = on_error, warning = on_warning
      ),
      llm_sandbox_error = failed,
      llm_sandbox_exit = function(status) {
        list(fields = list(status = "ok", exit = as.character(as.integer(status) %% 256L)))
      },
      abort = function(...) ended_with("abort", "the evaluation was aborted", places[[at]])
    ),
    # There is no room to call a handler then.
    stackOverflowError = function(condition) failed(condition, list()),
    interrupt = function(condition) ended_with("interrupt", "", places[[at]])
  )
}

# The ending of what is no error to R, and yet is not what the code would have come to.
ended_with <- function(name, value, place) {
  fields <- list(
    name = name, value = value, traceback = if (nzchar(value)) value else "Interrupted",
    line = as.character(place[[1L]]), type = "exception"
  )
  list(fields = list(status = "error"), tell = function() tell("error", fields))
}

# Print as R does; what the last expression gives is the value of the run.
show_value <- function(value, is_last) {
  if (sink.number() > 0L) return(print_value(value))
  if (show_special(value, is_last)) return(invisible())
  if (!is_last) return(print_value(value))
  text <- printed(value)
  if (nzchar(text)) {
    tell("result", list("data:text/plain" = text))
  }
}

show_special <- function(value, is_last) {
  kind <- if (is_last) "result" else "display"
  if (is_widget(value)) {
    print(value)
    return(TRUE)
  }
  if (!is_table(value)) return(FALSE)
  text <- printed(value)
  # Nothing where the table's own class says so, as after data.table's `:=`.
  if (nzchar(text)) tell(kind, table_fields(value, text))
  TRUE
}

# Return the printed text, without its last line end.
printed <- function(value) {
  text <- rawConnection(raw(), "w")
  sink(text)
  whole <- FALSE
  taken <- function() {
    sink()
    found <- as_text(rawConnectionValue(text))
    close(text)
    found
  }
  on.exit(if (!whole) cat(taken()))
  print_value(value)
  whole <- TRUE
  sub("\n$", "", taken())
}
