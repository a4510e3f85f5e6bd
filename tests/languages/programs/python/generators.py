"""Endless sequences, cut to size."""

import itertools


def primes():
    known = {}
    for number in itertools.count(2):
        divisor = known.pop(number, None)
        if divisor is None:
            known[number * number] = number
            yield number
        else:
            step = number + divisor
            while step in known:
                step += divisor
            known[step] = divisor


def collatz(number):
    while number != 1:
        yield number
        number = 3 * number + 1 if number % 2 else number // 2
    yield 1


print(*itertools.islice(primes(), 15))
print(*itertools.takewhile(lambda prime: prime < 120, itertools.dropwhile(lambda prime: prime < 90, primes())))
print(max(range(1, 1000), key=lambda number: sum(1 for _ in collatz(number))))
