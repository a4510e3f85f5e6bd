# Primes by the sieve of Eratosthenes.
sieve <- function(limit) {
  marks <- rep(TRUE, limit)
  marks[1] <- FALSE
  for (number in 2:floor(sqrt(limit))) {
    if (marks[number]) marks[seq(number^2, limit, by = number)] <- FALSE
  }
  which(marks)
}

primes <- sieve(100)
cat("count:", length(primes), "\n")
cat("last:", tail(primes, 3), "\n")
cat("sum:", sum(primes), "\n")
