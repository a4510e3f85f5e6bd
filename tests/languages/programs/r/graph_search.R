# Shortest paths: breadth first, and Dijkstra's.
edges <- list(
  A = c(B = 4, C = 2), B = c(C = 5, D = 10), C = c(E = 3), D = c(F = 11), E = c(D = 4),
  F = numeric()
)

breadth_first <- function(from, to) {
  paths <- list(from)
  seen <- from
  while (length(paths)) {
    path <- paths[[1]]
    paths <- paths[-1]
    node <- tail(path, 1)
    if (node == to) return(path)
    for (following in setdiff(names(edges[[node]]), seen)) {
      seen <- c(seen, following)
      paths <- c(paths, list(c(path, following)))
    }
  }
}

shortest <- function(from) {
  distance <- setNames(rep(Inf, length(edges)), names(edges))
  distance[from] <- 0
  open <- names(edges)
  while (length(open)) {
    node <- open[which.min(distance[open])]
    open <- setdiff(open, node)
    for (following in names(edges[[node]])) {
      along <- distance[node] + edges[[node]][following]
      if (along < distance[following]) distance[following] <- along
    }
  }
  distance
}

cat(breadth_first("A", "F"), sep = " > ")
cat("\n")
print(shortest("A"))
