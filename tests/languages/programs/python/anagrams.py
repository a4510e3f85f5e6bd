"""Group words by their letters."""

from collections import defaultdict

words = "listen silent enlist google elgoog abc cab bca rat tar art loop pool".split()
groups = defaultdict(list)
for word in words:
    groups["".join(sorted(word))].append(word)
for group in sorted(groups.values(), key=lambda group: (-len(group), group)):
    print(len(group), *sorted(group))
