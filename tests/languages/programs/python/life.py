"""The game of life on a small torus."""

from collections import Counter

SIZE = 8
cells = {(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)}


def step(cells):
    near = Counter(
        ((x + dx) % SIZE, (y + dy) % SIZE)
        for x, y in cells
        for dx in (-1, 0, 1)
        for dy in (-1, 0, 1)
        if dx or dy
    )
    return {cell for cell, count in near.items() if count == 3 or (count == 2 and cell in cells)}


for generation in range(5):
    if generation % 4 == 0:
        print(f"generation {generation}")
        for y in range(SIZE):
            print("".join("#" if (x, y) in cells else "." for x in range(SIZE)))
    cells = step(cells)
