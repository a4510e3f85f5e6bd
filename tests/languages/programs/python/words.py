"""The commonest words of a text, and its longest line."""

import re
from collections import Counter

TEXT = """
The sea was calm, and the sky was grey.
A gull cried; another answered it, far out over the sea.
"It will rain," said the man; and it did, before the boat was in.
"""
words = re.findall(r"[a-z']+", TEXT.lower())
for word, count in sorted(Counter(words).most_common(), key=lambda pair: (-pair[1], pair[0]))[:6]:
    print(f"{word:<5}{'*' * count}")
print(len(words), len(set(words)), max(TEXT.splitlines(), key=len)[:20])
