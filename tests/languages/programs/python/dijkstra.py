"""Shortest ways through a map."""

import heapq

ROADS = {
    "A": {"B": 7, "C": 9, "F": 14},
    "B": {"A": 7, "C": 10, "D": 15},
    "C": {"A": 9, "B": 10, "D": 11, "F": 2},
    "D": {"B": 15, "C": 11, "E": 6},
    "E": {"D": 6, "F": 9},
    "F": {"A": 14, "C": 2, "E": 9},
}


def shortest(start):
    found, queue = {}, [(0, start, [start])]
    while queue:
        cost, place, way = heapq.heappop(queue)
        if place in found:
            continue
        found[place] = cost, way
        for target, length in ROADS[place].items():
            if target not in found:
                heapq.heappush(queue, (cost + length, target, [*way, target]))
    return found


for place, (cost, way) in sorted(shortest("A").items()):
    print(place, cost, "-".join(way))
