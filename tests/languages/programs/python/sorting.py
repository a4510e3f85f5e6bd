"""Three ways to sort, which agree."""

import random


def quick(items):
    if len(items) < 2:
        return items
    pivot, *rest = items
    return quick([x for x in rest if x < pivot]) + [pivot] + quick([x for x in rest if x >= pivot])


def merge(items):
    if len(items) < 2:
        return items
    middle = len(items) // 2
    left, right, merged = merge(items[:middle]), merge(items[middle:]), []
    while left and right:
        merged.append((left if left[0] <= right[0] else right).pop(0))
    return merged + left + right


def insertion(items):
    done = []
    for item in items:
        at = len(done)
        while at and done[at - 1] > item:
            at -= 1
        done.insert(at, item)
    return done


random.seed(7)
numbers = [random.randrange(1000) for _ in range(200)]
for sort in (quick, merge, insertion):
    print(sort.__name__, sort(list(numbers)) == sorted(numbers))
print(quick(numbers)[:5] == sorted(numbers)[:5], quick(list("sandbox")))
