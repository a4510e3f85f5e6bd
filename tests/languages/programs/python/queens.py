"""Eight queens that leave each other alone."""


def place(size, row=0, columns=(), falling=(), rising=()):
    if row == size:
        yield columns
        return
    for column in range(size):
        if column not in columns and row - column not in falling and row + column not in rising:
            yield from place(
                size, row + 1, (*columns, column), (*falling, row - column), (*rising, row + column)
            )


print([sum(1 for _ in place(size)) for size in range(1, 8)])
first = next(place(8))
for column in first:
    print("." * column + "Q" + "." * (7 - column))
