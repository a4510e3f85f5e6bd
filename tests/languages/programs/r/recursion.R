# Recursion: towers, permutations, a memory of what was computed.
hanoi <- function(count, from = "a", to = "c", by = "b") {
  if (count == 0) return(0)
  hanoi(count - 1, from, by, to) + 1 + hanoi(count - 1, by, to, from)
}

permutations <- function(items) {
  if (length(items) <= 1) return(list(items))
  unlist(lapply(seq_along(items), function(place) {
    lapply(permutations(items[-place]), function(rest) c(items[place], rest))
  }), recursive = FALSE)
}

memory <- new.env()
ackermann <- function(m, n) {
  key <- paste(m, n)
  if (is.null(memory[[key]])) {
    memory[[key]] <- if (m == 0) {
      n + 1
    } else if (n == 0) {
      ackermann(m - 1, 1)
    } else {
      ackermann(m - 1, ackermann(m, n - 1))
    }
  }
  memory[[key]]
}

cat(hanoi(8), "\n")
cat(vapply(permutations(c("x", "y", "z")), paste, "", collapse = ""), "\n")
cat(ackermann(2, 3), length(memory), "\n")
