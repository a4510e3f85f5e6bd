# Displays of htmlwidgets (plotly and others) as self-contained HTML pages.

take_widget <- NULL

is_widget <- function(value) inherits(value, "htmlwidget")

# Display widgets when they are printed, wherever that is.
offer_widgets <- function(take) {
  take_widget <<- take
  setHook(packageEvent("htmlwidgets", "onLoad"), function(...) {
    registerS3method("print", "htmlwidget", print_widget, envir = asNamespace("htmlwidgets"))
    registerS3method("print", "suppress_viewer", print_widget, envir = asNamespace("htmlwidgets"))
  })
}

print_widget <- function(x, ...) {
  # What was drawn before stands before it.
  settle_page()
  take_widget(widget_page(x), class(x)[[1L]])
  invisible(x)
}

widget_page <- function(widget) {
  tags <- getExportedValue("htmltools", "as.tags")(widget, standalone = TRUE)
  rendered <- getExportedValue("htmltools", "renderTags")(tags)
  needed <- getExportedValue("htmltools", "resolveDependencies")(rendered$dependencies)
  parts <- vapply(needed, dependency_text, "")
  paste0(
    "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\"/>\n",
    "<style>body{background-color:white;}</style>\n",
    paste(parts, collapse = "\n"), "\n", paste(rendered$head, collapse = "\n"),
    "\n</head>\n<body>\n", paste(rendered$html, collapse = "\n"), "\n</body>\n</html>\n"
  )
}

# A library that a page needs, as text in the page itself.
dependency_text <- function(dependency) {
  folder <- dependency$src$file
  if (!is.null(dependency$package)) folder <- system.file(folder, package = dependency$package)
  scripts <- dependency$script
  if (is.list(scripts)) scripts <- scripts$src
  text_of <- function(name) {
    file <- file.path(folder, name)
    text <- if (file.exists(file)) readChar(file, file.size(file), useBytes = TRUE) else ""
    Encoding(text) <- "UTF-8"
    text
  }
  styles <- vapply(unlist(dependency$stylesheet), function(name) {
    paste0("<style>\n", text_of(name), "\n</style>")
  }, "")
  codes <- vapply(unlist(scripts), function(name) {
    # The end of a script must not stand within one.
    paste0("<script>\n", gsub("</script", "<\\/script", text_of(name), fixed = TRUE), "\n</script>")
  }, "")
  paste(c(styles, codes, dependency$head), collapse = "\n")
}

widget_detail <- function(kind) list(llm_sandbox = list(kind = "plot", source = kind))

tell_widget <- function(page, kind) {
  tell("display", list(
    "data:text/html" = page, "data:text/plain" = paste0("<", kind, ">"),
    metadata = to_json(widget_detail(kind))
  ))
}
