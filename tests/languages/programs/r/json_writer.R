# JSON written by recursion over lists.
write_json <- function(value) {
  if (is.null(value)) return("null")
  if (is.list(value)) {
    parts <- vapply(value, write_json, "")
    if (is.null(names(value))) return(paste0("[", paste(parts, collapse = ","), "]"))
    keys <- vapply(names(value), write_json, "")
    return(paste0("{", paste0(keys, ":", parts, collapse = ","), "}"))
  }
  if (is.character(value)) {
    escaped <- gsub("\n", "\\n", gsub("\"", "\\\"", gsub("\\", "\\\\", value, fixed = TRUE),
      fixed = TRUE
    ), fixed = TRUE)
    found <- paste0("\"", escaped, "\"")
  } else if (is.logical(value)) {
    found <- ifelse(value, "true", "false")
  } else {
    found <- format(value, trim = TRUE)
  }
  if (length(found) == 1) found else paste0("[", paste(found, collapse = ","), "]")
}

cat(write_json(list(
  name = "say \"hi\"", tags = c("a", "b"), size = 3.5, ok = TRUE,
  nested = list(list(id = 1L), list(id = 2L)), nothing = NULL, text = "two\nlines"
)), "\n")
