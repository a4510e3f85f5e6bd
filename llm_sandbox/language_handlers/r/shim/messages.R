# Channel of messages to and from the kernel: fields with their sizes, then an empty line.

requests <- NULL
answers <- NULL
own_pid <- Sys.getpid()

connect <- function() {
  # The "e" makes the C library open it close-on-exec: what the user's code starts gets neither.
  requests <<- file("/dev/fd/3", open = "reb", raw = TRUE)
  answers <<- file("/dev/fd/4", open = "web", raw = TRUE)
  utils::getFromNamespace("closeFD", "parallel")(3:4)
}

as_text <- function(bytes) {
  text <- rawToChar(bytes[bytes != as.raw(0L)])
  Encoding(text) <- "UTF-8"
  text
}

# The next message, or NULL when there will be none.
receive <- function() {
  fields <- list()
  repeat {
    head <- readLines(requests, 1L, warn = FALSE)
    if (!length(head)) return(NULL)
    if (!nzchar(head)) return(fields)
    words <- strsplit(head, " ", fixed = TRUE)[[1L]]
    size <- as.integer(words[[length(words)]])
    value <- readBin(requests, "raw", size + 1L)
    fields[[words[[1L]]]] <- as_text(value[seq_len(size)])
  }
}

field <- function(name, value) {
  bytes <- if (is.raw(value)) value else charToRaw(enc2utf8(value))
  c(charToRaw(sprintf("%s %d\n", name, length(bytes))), bytes, as.raw(10L))
}

# Send one message; `fields` is a named list of texts and raw vectors.
answer <- function(kind, fields = list()) {
  pieces <- Map(field, names(fields), fields)
  bytes <- c(field("kind", kind), unlist(pieces, use.names = FALSE), as.raw(10L))
  writeBin(bytes, answers)
  flush(answers)
}

# Send what stands in the order of what is printed, and wait until it has been taken.
tell <- function(kind, fields) {
  suspendInterrupts({
    flush(base::stdout())
    answer(kind, fields)
    repeat {
      message <- receive()
      if (is.null(message)) leave(0L)
      if (identical(message$kind, "ack")) break
      attend(message)
    }
  })
  invisible()
}

# Replaced functions of R: the originals by name.
originals <- list()

replace_in_base <- function(name, value) {
  originals[[name]] <<- get(name, envir = baseenv())
  environment_is_locked <- bindingIsLocked(name, baseenv())
  if (environment_is_locked) unlockBinding(name, baseenv())
  assign(name, value, envir = baseenv())
  if (environment_is_locked) lockBinding(name, baseenv())
}

replace_in_package <- function(name, package, value) {
  namespace <- asNamespace(package)
  originals[[name]] <<- get(name, envir = namespace)
  places <- list(namespace)
  attached <- paste0("package:", package)
  if (attached %in% search()) places <- c(places, list(as.environment(attached)))
  for (place in places) {
    unlockBinding(name, place)
    assign(name, value, envir = place)
    lockBinding(name, place)
  }
}

leave <- function(status) {
  originals[["quit"]]("no", status, FALSE)
}
