# R shim: runs cells in one persistent R process; see guest/wrapper.py for the protocol.
#
# All functions of the shim are in a separate environment, so that the user's workspace holds the
# user's objects only.
local({
  path <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)[[1L]])
  # How R passes on a space in a path.
  folder <- dirname(gsub("~+~", " ", path, fixed = TRUE))
  shim <- new.env(parent = baseenv())
  parts <- c(
    "messages", "json", "input", "devices", "pages", "tables", "widgets", "errors", "warnings",
    "toplevel", "run"
  )
  for (part in parts) {
    sys.source(file.path(folder, paste0(part, ".R")), envir = shim, keep.source = FALSE)
  }
  suspendInterrupts(shim$serve())
})
