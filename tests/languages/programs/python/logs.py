"""What went wrong, from a log, by regular expressions."""

import re
from collections import Counter

LOG = """\
2024-03-01 10:00:01 INFO  start pid=17
2024-03-01 10:00:02 ERROR db: timeout after 30s
2024-03-01 10:00:05 WARN  cache: miss rate 91%
not a line of the log
2024-03-01 10:01:00 ERROR http: status 502 from /api/v1
2024-03-01 10:02:13 ERROR db: timeout after 31s
"""
LINE = re.compile(r"(?P<time>\S+ \S+) (?P<level>[A-Z]+)\s+(?:(?P<part>\w+): )?(?P<text>.*)")
lines = [match.groupdict() for match in map(LINE.fullmatch, LOG.splitlines()) if match]
print(Counter(line["level"] for line in lines))
for line in lines:
    if line["level"] == "ERROR":
        print(line["time"][11:], line["part"], re.sub(r"\d+", "N", line["text"]))
seconds = [int(number) for number in re.findall(r"after (\d+)s", LOG)]
print(sum(seconds) / len(seconds))
