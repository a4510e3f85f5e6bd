"""Numbers as the Romans wrote them, there and back."""

SIGNS = list(zip(
    (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
    "M CM D CD C XC L XL X IX V IV I".split(),
))


def to_roman(number):
    text = ""
    for value, sign in SIGNS:
        count, number = divmod(number, value)
        text += sign * count
    return text


def from_roman(text):
    values = dict((sign, value) for value, sign in SIGNS if len(sign) == 1)
    numbers = [values[sign] for sign in text] + [0]
    return sum(-a if a < b else a for a, b in zip(numbers, numbers[1:]))


for year in (4, 9, 14, 40, 90, 400, 1987, 2024, 3999):
    print(year, to_roman(year))
assert all(from_roman(to_roman(number)) == number for number in range(1, 4000))
print("all", 3999, "come back")
