# Numbers: bits, bases, big integers as digits, floating point.
to_base <- function(number, base) {
  digits <- c(0:9, letters)
  found <- character()
  while (number > 0) {
    found <- c(digits[number %% base + 1], found)
    number <- number %/% base
  }
  paste(found, collapse = "")
}

factorial_digits <- function(count) {
  digits <- 1
  for (factor in 2:count) {
    digits <- digits * factor
    place <- 1
    while (place <= length(digits)) {
      if (digits[place] > 9) {
        if (place == length(digits)) digits <- c(digits, 0)
        digits[place + 1] <- digits[place + 1] + digits[place] %/% 10
        digits[place] <- digits[place] %% 10
      }
      place <- place + 1
    }
  }
  paste(rev(digits), collapse = "")
}

cat(to_base(255, 2), to_base(48879, 16), strtoi("777", 8L), "\n")
cat(bitwAnd(12L, 10L), bitwXor(12L, 10L), bitwShiftL(1L, 10L), "\n")
cat(factorial_digits(30), "\n")
cat(0.1 + 0.2 == 0.3, isTRUE(all.equal(0.1 + 0.2, 0.3)), .Machine$integer.max, "\n")
cat(5 %/% 2, -5 %/% 2, -5 %% 3, round(2.5), signif(123456, 2), "\n")
