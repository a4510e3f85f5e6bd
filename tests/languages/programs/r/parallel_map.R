# Work divided among processes.
library(parallel)
squares <- mclapply(1:6, function(number) number^2, mc.cores = 2)
cat(unlist(squares), "\n")
jobs <- lapply(1:3, function(number) mcparallel(sum(seq_len(number * 100))))
cat(unlist(mccollect(jobs), use.names = FALSE), "\n")
failed <- mclapply(1:2, function(n) if (n == 2) try(stop("no"), silent = TRUE) else n, mc.cores = 2)
cat(vapply(failed, inherits, TRUE, "try-error"), "\n")
