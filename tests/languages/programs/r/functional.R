# Map, filter, reduce, and the native pipe.
numbers <- 1:10
even_squares <- numbers |>
  Filter(f = \(n) n %% 2 == 0) |>
  vapply(\(n) n^2, 0)
cat(even_squares, "\n")
cat(Reduce(`+`, 1:5, accumulate = TRUE), "\n")
cat(mapply(function(a, b) paste0(a, b), c("x", "y"), 1:2), "\n")
print(do.call(rbind, Map(function(name, size) data.frame(name, size), c("a", "b"), c(1, 2))))
cat(Position(function(n) n > 3, c(1, 5, 2, 7)), Find(function(n) n > 3, c(1, 5, 2, 7)), "\n")
print(outer(1:3, 1:4, Vectorize(function(a, b) a * 10 + b)))
print(rapply(list(1, "a", list(2, "b")), function(n) n * 10, classes = "numeric", how = "unlist"))
