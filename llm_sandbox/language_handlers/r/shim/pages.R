# Pages of plots: each is published once, when the next one begins, when drawing on it has ended, or
# when the run ends.
#
# A published page is closed, and its device with it. It is kept as a recording: code that continues
# to draw on it gets it back, and the result is published as an update of the page.

# Callback that publishes a page: function(bytes, mime, id, changed).
take_page <- NULL
# The page that was closed last, for who goes on drawing on it.
closed_page <- NULL
# Whether the only device was not closed by the code itself.
closed_quietly <- FALSE
# Settings of graphics that outlive their device.
kept_settings <- NULL
pages_told <- 0L
run_number <- 0L

not_kept <- c(
  "fig", "fin", "mfg", "pin", "plt", "usr", "new", "xaxp", "yaxp", "xlog", "ylog", "cex", "cxy",
  "mfcol", "ask"
)
fresh_settings <- NULL

starts_page <- c("plot.new", "frame", "grid.newpage", "dev.new", "split.screen")
draws_on <- c(
  "plot.xy", "lines", "points", "abline", "text", "legend", "axis", "Axis", "title", "mtext",
  "polygon", "polypath", "segments", "arrows", "rect", "grid", "box", "symbols", "rug", "matlines",
  "matpoints", "clip", "xspline", "rasterImage", "axTicks", "plot.window", "locator", "identify",
  "strwidth", "strheight", "qqline", "bxp"
)
reads_device <- c(
  "dev.copy", "dev.print", "dev.copy2pdf", "dev.copy2eps", "recordPlot", "savePlot", "dev.capture",
  "grid.grab", "grid.cap", "dev.size"
)
speaks <- c("cat", "print", "message", "writeLines", "show", "warning", "stop", "str", "system")

replace_devices <- function(take) {
  take_page <<- take
  options(device = open_device)
  loadNamespace("grDevices")
  close_device <- function(which = grDevices::dev.cur()) {
    # To the code, its device is still there.
    if (which == 1 && closed_quietly) {
      closed_page <<- NULL
      kept_settings <<- NULL
      closed_quietly <<- FALSE
      return(c("null device" = 1L))
    }
    if (is_our_device(which)) kept_settings <<- NULL
    originals[["dev.off"]](which)
  }
  replace_in_package("dev.off", "grDevices", close_device)
  setHook("plot.new", function(...) page_started("base"))
  setHook("grid.newpage", function(...) page_started("grid"))
}

page_started <- function(system) {
  if (Sys.getpid() != own_pid) return()
  tell_finished()
  number <- grDevices::dev.cur()
  if (!is_our_device(number)) return()
  name <- as.character(number)
  devices[[name]]$started <<- TRUE
  devices[[name]]$system <<- system
}

# Tell the pages whose files are complete.
tell_finished <- function() {
  for (name in names(devices)) {
    device <- devices[[name]]
    files <- sort(list.files(device$folder, full.names = TRUE))
    # The last one of an open device is there from its beginning, and written at its end.
    if (is_our_device(as.integer(name))) files <- utils::head(files, -1L)
    for (file in files) {
      bytes <- readBin(file, "raw", file.size(file))
      unlink(file)
      tell_bytes(name, bytes)
    }
    if (!is_our_device(as.integer(name))) {
      unlink(device$folder, recursive = TRUE)
      devices[[name]] <<- NULL
    }
  }
}

tell_bytes <- function(name, bytes) {
  device <- devices[[name]]
  devices[[name]]$id <<- NULL
  devices[[name]]$before <<- NULL
  # A recording that nothing was added to has been told.
  if (identical(device$before, bytes) || is_blank(bytes, device$size)) return()
  changed <- !is.null(device$id)
  if (!changed) pages_told <<- pages_told + 1L
  id <- if (changed) device$id else paste0("page-", own_pid, "-", pages_told)
  take_page(bytes, if (capabilities("cairo")) "image/png" else "application/pdf", id, changed)
  last_told <<- list(id = id, bytes = bytes)
}

last_told <- NULL

# Close one of our devices, so that its page is complete; it can be continued later.
close_page <- function(number) {
  grDevices::dev.set(number)
  name <- as.character(number)
  device <- devices[[name]]
  recording <- tryCatch(grDevices::recordPlot(), error = function(e) NULL)
  settings <- tryCatch(graphics::par(no.readonly = TRUE), error = function(e) list())
  last_told <<- list(id = device$id, bytes = device$before)
  originals[["dev.off"]](number)
  closed_quietly <<- TRUE
  tell_finished()
  kept_settings <<- changed_settings(settings)
  closed_page <<- if (device$started) {
    list(
      recording = recording, size = device$size, id = last_told$id, bytes = last_told$bytes,
      system = device$system, run = run_number
    )
  }
}

changed_settings <- function(settings) {
  if (is.null(fresh_settings)) return(list())
  names <- setdiff(names(settings), not_kept)
  Filter(Negate(is.null), settings[Filter(
    function(name) !identical(settings[[name]], fresh_settings[[name]]), names
  )])
}

# Called when one of our devices was opened, with the calls that led there.
continue_page <- function(calls) {
  if (is.null(fresh_settings)) fresh_settings <<- graphics::par(no.readonly = TRUE)
  page <- closed_page
  closed_page <<- NULL
  closed_quietly <<- FALSE
  if (!is.null(page) && goes_on(page, calls)) {
    name <- as.character(grDevices::dev.cur())
    tryCatch(grDevices::replayPlot(page$recording), error = function(e) NULL)
    devices[[name]]$started <<- TRUE
    devices[[name]]$system <<- page$system
    devices[[name]]$before <<- page$bytes
    # In a later run it is a picture of its own.
    if (identical(page$run, run_number)) devices[[name]]$id <<- page$id
  } else if (length(kept_settings)) {
    graphics::par(kept_settings)
  }
}

# Return whether a request for a device refers to the closed page, and not to a new one.
goes_on <- function(page, calls) {
  if (is.null(page$recording)) return(FALSE)
  if (isTRUE(reopening)) return(TRUE)
  names <- unlist(lapply(calls, function(call) {
    if (is.symbol(call[[1L]])) as.character(call[[1L]])
  }))
  if (any(starts_page %in% names)) return(FALSE)
  if (identical(page$system, "grid")) return(identical(page$run, run_number))
  any(draws_on %in% names)
}

reopening <- FALSE

# Replay the closed page on a device.
reopen_page <- function() {
  reopening <<- TRUE
  on.exit(reopening <<- FALSE)
  open_device(width = closed_page$size[[1L]], height = closed_page$size[[2L]])
}

begin_pages <- function() {
  run_number <<- run_number + 1L
}

before_expression <- function(expression) {
  if (is.null(closed_page) || grDevices::dev.cur() > 1L) return()
  if (any(reads_device %in% all.names(expression))) reopen_page()
}

# Tell the page before what the next expression prints, where it is not one that draws on.
after_expression <- function(following) {
  if (!length(devices)) return()
  tell_finished()
  if (is.null(following)) return()
  names <- all.names(following)
  if (any(names %in% speaks) || !(is_assignment(following) || draws(names))) settle_page()
}

# Tell the page that is being drawn on, if it is full.
settle_page <- function() {
  number <- grDevices::dev.cur()
  if (!is_our_device(number) || !devices[[as.character(number)]]$started) return()
  if (!graphics::par("page") || lattice_goes_on()) return()
  suspendInterrupts(close_page(number))
}

# Return whether lattice expects more plots on the page.
lattice_goes_on <- function() {
  if (!isNamespaceLoaded("lattice")) return(FALSE)
  status <- function() utils::getFromNamespace("lattice.getStatus", "lattice")("print.more")
  isTRUE(tryCatch(status(), error = function(e) FALSE))
}

is_assignment <- function(expression) {
  is.call(expression) && as.character(expression[[1L]])[[1L]] %in% c("<-", "=", "<<-", "library")
}

draws <- function(names) {
  packages <- c("graphics", "grDevices", "grid", "lattice", "ggplot2")
  any(vapply(
    intersect(packages, loadedNamespaces()),
    function(package) any(names %in% getNamespaceExports(package)), NA
  ))
}

finish_pages <- function() {
  if (!length(devices)) return()
  tell_finished()
  current <- grDevices::dev.cur()
  for (number in our_open_devices()) if (number != current) close_page(number)
  if (is_our_device(current)) {
    close_page(current)
  } else if (current > 1L && current %in% grDevices::dev.list()) {
    grDevices::dev.set(current)
  }
}

tell_page <- function(bytes, mime, id, changed) {
  fields <- list(bytes, "<plot>", id, plot_metadata)
  names(fields) <- c(paste0("data:", mime), "data:text/plain", "id", "metadata")
  tell(if (changed) "update" else "display", fields)
}

plot_metadata <- "{\"llm_sandbox\":{\"kind\":\"plot\",\"source\":\"r\"}}"
