# Default graphics device, used when the code opens none: pages as pictures in a folder.

resolution <- 144
smallest_interesting <- 8192L

# Our devices by number.
devices <- list()
device_folders <- 0L
# Blank pages, by their size.
blank_pages <- list()

# A setting that notebooks for R know, or its default.
setting <- function(name, default) {
  value <- getOption(name)
  if (is.numeric(value) && length(value) == 1L && is.finite(value) && value > 0) value else default
}

open_pictures <- function(pattern, size, pointsize, bg) {
  if (capabilities("cairo")) {
    grDevices::png(pattern,
      width = size[[1L]], height = size[[2L]], units = "in", res = size[[3L]],
      pointsize = pointsize, bg = bg, type = "cairo"
    )
  } else {
    grDevices::pdf(pattern,
      width = size[[1L]], height = size[[2L]], pointsize = pointsize, bg = bg, onefile = FALSE
    )
  }
}

# The value of the option "device".
open_device <- function(width = 7, height = 5, pointsize = 12, bg = "white", ...) {
  asked <- c(missing(width), missing(height))
  if (asked[[1L]]) width <- setting("repr.plot.width", width)
  if (asked[[2L]]) height <- setting("repr.plot.height", height)
  # Whoever gives pixels means pixels.
  if (width > 100) width <- width / resolution
  if (height > 100) height <- height / resolution
  size <- c(width, height, setting("repr.plot.res", resolution))
  device_folders <<- device_folders + 1L
  folder <- file.path(tempdir(), sprintf("pages-%d-%d", Sys.getpid(), device_folders))
  dir.create(folder, showWarnings = FALSE, recursive = TRUE)
  pattern <- file.path(folder, if (capabilities("cairo")) "%05d.png" else "%05d.pdf")
  calls <- sys.calls()
  open_pictures(pattern, size, pointsize, bg)
  grDevices::dev.control("enable")
  devices[[as.character(grDevices::dev.cur())]] <<- list(
    folder = folder, pattern = pattern, size = size, started = FALSE, id = NULL
  )
  continue_page(calls)
  invisible()
}

# Return whether a device is one of ours and still open: device numbers are reused.
is_our_device <- function(number) {
  device <- devices[[as.character(number)]]
  opened <- get(".Devices", envir = baseenv())
  !is.null(device) && number <= length(opened) &&
    identical(attr(opened[[number]], "filepath"), device$pattern)
}

our_open_devices <- function() Filter(is_our_device, grDevices::dev.list())

blank_page <- function(size) {
  name <- paste(size, collapse = " ")
  if (is.null(blank_pages[[name]])) {
    before <- grDevices::dev.cur()
    file <- tempfile("blank")
    open_pictures(file, size, 12, "white")
    graphics::plot.new()
    originals[["dev.off"]]()
    if (before > 1L) grDevices::dev.set(before)
    blank_pages[[name]] <<- readBin(file, "raw", file.size(file))
    unlink(file)
  }
  blank_pages[[name]]
}

is_blank <- function(bytes, size) {
  length(bytes) < smallest_interesting && identical(bytes, blank_page(size))
}
