"""The oldest of them, by rules."""

RULES = {3: "Fizz", 5: "Buzz", 7: "Bang"}
for number in range(1, 36):
    words = "".join(word for divisor, word in RULES.items() if number % divisor == 0)
    print(words or number, end="\n" if number % 7 == 0 else " ")
