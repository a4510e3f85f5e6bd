# Quicksort, generic in the order.
quicksort <- function(items, before = `<`) {
  if (length(items) <= 1) return(items)
  pivot <- items[[1]]
  rest <- items[-1]
  smaller <- rest[vapply(rest, before, TRUE, pivot)]
  others <- rest[!vapply(rest, before, TRUE, pivot)]
  c(quicksort(smaller, before), pivot, quicksort(others, before))
}

numbers <- c(33, 4, 17, 4, 98, -6, 0)
print(quicksort(numbers))
print(quicksort(numbers, `>`))
words <- c("pear", "fig", "banana", "kiwi")
print(quicksort(words, function(a, b) nchar(a) < nchar(b)))
