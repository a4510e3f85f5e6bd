"""A table of sums from text with commas and quotes."""

import csv
import io
from collections import defaultdict

TEXT = """region,product,units,price
north,"nuts, salted",12,1.25
south,bolts,7,0.40
north,bolts,30,0.35
south,"nuts, salted",5,1.30
east,screws "M3",100,0.05
"""

sums = defaultdict(float)
for row in csv.DictReader(io.StringIO(TEXT)):
    sums[row["region"]] += int(row["units"]) * float(row["price"])
width = max(map(len, sums))
for region, total in sorted(sums.items(), key=lambda item: -item[1]):
    print(f"{region:<{width}} {total:8.2f}")
print(f"{'all':<{width}} {sum(sums.values()):8.2f}")
