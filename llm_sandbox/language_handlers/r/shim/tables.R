# Displays of data frames and matrices: R's printed text, an HTML table, and a table record.

most_columns <- 50L
most_rows <- 100L
html_rows <- 60L

is_table <- function(value) {
  if (is.data.frame(value)) return(TRUE)
  is.matrix(value) && typeof(value) %in% c("logical", "integer", "double", "character") &&
    !is.object(value) && all(dim(value) > 0L)
}

table_fields <- function(value, text) {
  fields <- list("data:text/plain" = text)
  # What a class of its own does to a table may fail, and its text is there all the same.
  more <- tryCatch(
    {
      shown <- shown_cells(value)
      detail <- list(llm_sandbox = list(type = "r.DataFrame", source = shown$library))
      list(
        "data:text/html" = table_page(shown),
        "data:application/vnd.llm-sandbox.table+json" = table_record(shown),
        metadata = to_json(detail)
      )
    },
    error = function(e) NULL
  )
  c(fields, more)
}

valid <- function(text) iconv(enc2utf8(text), "UTF-8", "UTF-8", sub = "byte")

shown_cells <- function(value) {
  rows <- nrow(value)
  whole <- rows <= most_rows
  head <- if (whole) rows else most_rows %/% 2L
  kept <- c(seq_len(head), if (!whole) (rows - head + 1L):rows)
  names <- if (is.data.frame(value)) row_names(value) else rownames(value)
  columns <- list()
  if (!is.null(names)) {
    columns <- list(list(
      name = "", type = "string", dtype = "character", role = "index", cells = as.list(valid(names[kept]))
    ))
  }
  wide <- ncol(value)
  known <- c(tibble = "tbl_df", data.table = "data.table")
  library <- c(names(known)[inherits(value, known, which = TRUE) > 0L], "r")[[1L]]
  for (index in seq_len(min(wide, most_columns))) {
    column <- if (is.data.frame(value)) .subset2(value, index) else value[, index]
    name <- colnames(value)[index]
    if (is.null(name) || is.na(name)) name <- paste0("V", index)
    columns <- c(columns, list(describe_column(name, column, kept)))
  }
  list(
    columns = columns, rows = rows, wide = wide, head = head, kept = length(kept),
    library = library
  )
}

# The row names that say something: those that are not just numbers.
row_names <- function(frame) {
  names <- attr(frame, "row.names")
  if (is.character(names)) names
}

describe_column <- function(name, column, kept) {
  type <- column_type(column)
  cells <- if (length(dim(column)) == 2L) {
    apply(column[kept, , drop = FALSE], 1L, function(row) paste(format(row), collapse = ", "))
  } else {
    cells_of(column[kept], type)
  }
  if (is.character(cells)) cells <- valid(cells)
  list(
    name = substr(valid(name), 1L, 500L), type = type, dtype = paste(class(column), collapse = "/"),
    role = "value", cells = as.list(cells)
  )
}

column_type <- function(column) {
  if (is.factor(column)) return("category")
  if (inherits(column, "Date")) return("date")
  if (inherits(column, "POSIXt")) return("datetime")
  if (inherits(column, "difftime")) return("duration")
  if (is.object(column) && !is.numeric(column) && !is.character(column)) return("other")
  switch(typeof(column),
    integer = "integer", double = "number", logical = "boolean", character = "string",
    list = "list", raw = "binary", "other"
  )
}

cells_of <- function(cells, type) {
  if (type %in% c("integer", "number", "boolean", "string") && !is.object(cells)) return(cells)
  if (type == "datetime") return(format(cells, "%Y-%m-%dT%H:%M:%S"))
  if (type == "list") return(vapply(cells, function(cell) paste(format(cell), collapse = ", "), ""))
  if (type == "duration") return(ifelse(is.na(cells), NA, format(cells)))
  missing_cells <- is.na(cells)
  words <- if (type %in% c("category", "date")) as.character(cells) else trimws(format(cells))
  ifelse(missing_cells, NA, words)
}

table_record <- function(shown) {
  cells <- lapply(shown$columns, function(column) {
    vapply(column$cells, function(cell) {
      json_values(if (is.character(cell)) substr(cell, 1L, 500L) else cell)
    }, "")
  })
  rows <- vapply(seq_len(shown$kept), function(row) {
    paste0("[", paste(vapply(cells, `[[`, "", row), collapse = ","), "]")
  }, "")
  list_of <- function(rows) paste0("[", paste(rows, collapse = ","), "]")
  about <- lapply(shown$columns, function(column) column[c("name", "type", "dtype", "role")])
  paste0(
    "{\"version\":1,\"library\":", json_text(shown$library), ",\"name\":null,\"columns\":",
    if (length(about)) to_json(unname(about)) else "[]",
    sprintf(",\"shape\":[%d,%d],\"head\":", shown$rows, shown$wide),
    list_of(rows[seq_len(shown$head)]), ",\"tail\":", list_of(rows[-seq_len(shown$head)]),
    ",\"handle\":\"\"}"
  )
}

escape_html <- function(text) {
  text <- gsub("&", "&amp;", text, fixed = TRUE)
  text <- gsub("<", "&lt;", text, fixed = TRUE)
  gsub(">", "&gt;", text, fixed = TRUE)
}

table_page <- function(shown) {
  half <- html_rows %/% 2L
  order <- seq_len(shown$kept)
  cut <- shown$rows > html_rows
  if (cut) order <- c(utils::head(order, half), utils::tail(order, half))
  texts <- lapply(shown$columns, function(column) {
    vapply(column$cells[order], function(cell) {
      if (is.na(cell)) "NA" else if (is.character(cell)) cell else format(cell, digits = 7L)
    }, "")
  })
  heads <- vapply(shown$columns, `[[`, "", "name")
  row <- function(cells, tag) {
    cells <- paste0("<", tag, ">", escape_html(cells), "</", tag, ">", collapse = "")
    paste0("<tr>", cells, "</tr>")
  }
  rows <- vapply(seq_along(order), function(index) row(vapply(texts, `[[`, "", index), "td"), "")
  if (cut) rows <- append(rows, row(rep("\u2026", length(texts)), "td"), half)
  paste0(
    "<table>\n<thead>", row(heads, "th"), "</thead>\n<tbody>\n", paste(rows, collapse = "\n"),
    "\n</tbody>\n</table>\n<p>", shown$rows, " rows \u00d7 ", shown$wide, " columns</p>"
  )
}
