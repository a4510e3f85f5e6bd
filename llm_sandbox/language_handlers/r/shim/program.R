# Start-up profile of whole programs: plots go to the folder of the program's displays, and errors
# have locations.
local({
  folder <- dirname(Sys.getenv("R_PROFILE_USER"))
  # R programs that this one starts are theirs own.
  Sys.unsetenv("R_PROFILE_USER")
  shim <- new.env(parent = baseenv())
  parts <- c(
    "messages", "json", "input", "devices", "pages", "widgets", "errors", "warnings", "toplevel",
    "main"
  )
  for (part in parts) {
    sys.source(file.path(folder, paste0(part, ".R")), envir = shim, keep.source = FALSE)
  }
  shim$offer_main()
  displays <- Sys.getenv("LLM_SANDBOX_DISPLAYS")
  if (!nzchar(displays)) return(invisible())

  names <- list()
  number <- 0L
  write_display <- function(content, ending, id) {
    if (is.null(names[[id]])) {
      number <<- number + 1L
      names[[id]] <<- sprintf("%04d", number)
    }
    dir.create(displays, showWarnings = FALSE, recursive = TRUE)
    file <- file(file.path(displays, paste0(names[[id]], ".", ending)), "wb")
    on.exit(close(file))
    writeBin(if (is.raw(content)) content else charToRaw(enc2utf8(content)), file)
  }
  shim$replace_input()
  shim$replace_devices(function(bytes, mime, id, changed) {
    write_display(bytes, sub("^.*/", "", mime), id)
  })
  shim$offer_widgets(function(page, kind) {
    bundle <- list(
      "text/html" = page, "text/plain" = paste0("<", kind, ">"),
      metadata = shim$widget_detail(kind)
    )
    write_display(shim$to_json(bundle), "bundle.json", paste("widget", number + 1L))
  })
  reg.finalizer(shim, function(shim) {
    # In a copy of the process its pages are those of the first.
    if (Sys.getpid() == shim$own_pid) shim$finish_pages()
  }, onexit = TRUE)
  invisible()
})
