# JSON without a package: lists with names are objects, without names arrays.

json_text <- function(text) {
  text <- iconv(enc2utf8(as.character(text)), "UTF-8", "UTF-8", sub = "byte")
  text <- gsub("\\", "\\\\", text, fixed = TRUE)
  text <- gsub("\"", "\\\"", text, fixed = TRUE)
  text <- gsub("\n", "\\n", text, fixed = TRUE)
  text <- gsub("\r", "\\r", text, fixed = TRUE)
  text <- gsub("\t", "\\t", text, fixed = TRUE)
  for (code in if (any(grepl("[\001-\037]", text))) 1:31) {
    text <- gsub(intToUtf8(code), sprintf("\\u%04x", code), text, fixed = TRUE)
  }
  paste0("\"", text, "\"")
}

# Each value of a vector on its own; what JSON cannot say is null.
json_values <- function(values) {
  if (is.character(values)) {
    found <- json_text(values)
  } else if (is.logical(values)) {
    found <- ifelse(values, "true", "false")
  } else {
    found <- formatC(values, digits = 15L, width = 1L, format = "g", flag = "#")
    inexact <- is.finite(values) & suppressWarnings(as.numeric(found)) != values
    found[inexact] <- formatC(values[inexact], digits = 17L, width = 1L, format = "g", flag = "#")
    found <- sub("\\.?0*($|e)", "\\1", found)
    whole <- is.finite(values) & values == round(values) & abs(values) < 1e15
    found[whole] <- formatC(values[whole], digits = 0L, width = 1L, format = "f")
    found[!is.finite(values)] <- NA
  }
  found[is.na(values)] <- NA
  ifelse(is.na(found), "null", found)
}

to_json <- function(value) {
  if (is.null(value)) return("null")
  if (!is.list(value)) {
    found <- json_values(value)
    return(if (inherits(value, "AsIs")) paste0("[", paste(found, collapse = ","), "]") else found)
  }
  parts <- vapply(value, to_json, "")
  if (is.null(names(value))) return(paste0("[", paste(parts, collapse = ","), "]"))
  paste0("{", paste0(json_text(names(value)), ":", parts, collapse = ","), "}")
}
