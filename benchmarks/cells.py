"""Races of cells in an open session."""

import statistics
import time
from collections.abc import Callable, Mapping

from benchmarks.live import LivePair
from benchmarks.race import CorrectnessError, Race, Row, Target

__all__ = ["races"]

_CELL = "print(1)"
_REPEATS = 30


def _median_of(cell: Callable[[], str]) -> Mapping[str, float]:
    times = []
    for _ in range(_REPEATS):
        started = time.perf_counter()
        printed = cell()
        times.append(time.perf_counter() - started)
        if printed != "1\n":
            raise CorrectnessError(f"{_CELL} printed {printed!r}")
    return {"cell": statistics.median(times)}


def _ours(pair: LivePair) -> Mapping[str, float]:
    session = pair.session
    return _median_of(lambda: session.run(_CELL).stdout)


def _stock(pair: LivePair) -> Mapping[str, float]:
    stock = pair.stock
    return _median_of(lambda: stock.stdout(_CELL))


def races() -> list[Race]:
    """Return the races of this theme."""
    pair = LivePair()
    return [
        Race(
            name="cells",
            lanes={"ours": pair.lane(_ours), "stock": pair.lane(_stock)},
            rows=(
                Row("`print(1)` in a live session", "ours.cell", "stock.cell", Target("times", 4)),
            ),
            rounds=15,
            quick_rounds=5,
            finish=pair.close,
        )
    ]
