"""The best of what can be carried."""

from functools import cache

ITEMS = (("map", 9, 150), ("compass", 13, 35), ("water", 153, 200), ("tin", 68, 45), ("tent", 70, 80))


@cache
def best(index, room):
    if index == len(ITEMS):
        return 0, ()
    without = best(index + 1, room)
    name, weight, value = ITEMS[index]
    if weight > room:
        return without
    rest, names = best(index + 1, room - weight)
    return max(without, (rest + value, (name, *names)))


for room in (20, 100, 250, 400):
    value, names = best(0, room)
    print(room, value, ", ".join(names))
