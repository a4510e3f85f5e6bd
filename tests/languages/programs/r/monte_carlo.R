# Pi by random points, with a seed.
set.seed(42)
count <- 20000
x <- runif(count)
y <- runif(count)
estimate <- 4 * mean(x^2 + y^2 <= 1)
cat("close to pi:", abs(estimate - pi) < 0.05, "\n")
set.seed(42)
cat("repeatable:", identical(x[1:5], runif(5)), "\n")
rolls <- sample(1:6, 6000, replace = TRUE)
cat("fair:", all(abs(table(rolls) / 6000 - 1 / 6) < 0.02), "\n")
