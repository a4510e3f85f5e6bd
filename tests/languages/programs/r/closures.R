# Functions that keep state, and functions made of functions.
make_account <- function(balance = 0) {
  deposit <- function(amount) {
    balance <<- balance + amount
    invisible(balance)
  }
  withdraw <- function(amount) {
    if (amount > balance) stop("insufficient funds: ", balance)
    balance <<- balance - amount
    invisible(balance)
  }
  list(deposit = deposit, withdraw = withdraw, show = function() balance)
}

compose <- function(...) {
  steps <- list(...)
  function(value) Reduce(function(found, step) step(found), steps, value)
}

account <- make_account(100)
account$deposit(50)
account$withdraw(30)
cat("balance:", account$show(), "\n")
message <- tryCatch(account$withdraw(1000), error = conditionMessage)
cat(message, "\n")
pipeline <- compose(sqrt, function(x) x + 1, round)
cat(pipeline(80), "\n")
adders <- lapply(1:3, function(n) function(x) x + n)
cat(vapply(adders, function(add) add(10), 0), "\n")
