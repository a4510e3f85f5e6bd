"""Functions that remember."""

import functools


def counter(step=1):
    total = 0

    def count():
        nonlocal total
        total += step
        return total

    return count


by_one, by_ten = counter(), counter(10)
print([by_one(), by_one(), by_ten(), by_one(), by_ten()])


def traced(function):
    depth = 0

    @functools.wraps(function)
    def wrapper(number):
        nonlocal depth
        print("  " * depth + f"{function.__name__}({number})")
        depth += 1
        try:
            return function(number)
        finally:
            depth -= 1

    return wrapper


@traced
def factorial(number):
    return 1 if number < 2 else number * factorial(number - 1)


print(factorial(4))
print([square(3) for square in [lambda x, n=n: x**n for n in range(4)]])
