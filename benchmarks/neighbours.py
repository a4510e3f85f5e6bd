"""The cost of a cell beside sessions that do nothing."""

import contextlib
import statistics
import time
from collections.abc import Mapping

from benchmarks import ours
from benchmarks.race import Race, Row, Target
from llm_sandbox.session.session import BaseSession

__all__ = ["races"]

_CELL = "print(1)"
_REPEATS = 200
_NEIGHBOURS = 500


def _median_cell(session: BaseSession) -> float:
    times = []
    for _ in range(_REPEATS):
        started = time.perf_counter()
        ours.checked_run(session, _CELL, "1\n")
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def _ours() -> Mapping[str, float]:
    with contextlib.ExitStack() as opened:
        opened.enter_context(ours.without_pool())
        session = opened.enter_context(ours.new_session())
        _median_cell(session)
        alone = _median_cell(session)
        for _ in range(_NEIGHBOURS):
            neighbour = opened.enter_context(ours.new_session())
            ours.checked_run(neighbour, _CELL, "1\n")
        return {"alone": alone, "beside": _median_cell(session)}


def races() -> list[Race]:
    """Return the races of this theme."""
    return [
        Race(
            name="neighbours",
            lanes={"ours": _ours},
            rows=(
                Row(
                    f"`{_CELL}` with {_NEIGHBOURS} idle sessions open",
                    "ours.beside",
                    "ours.alone",
                    Target("share", 1.2),
                    compared_with="with none",
                ),
            ),
            rounds=3,
            quick_rounds=1,
            warm_up=False,
        )
    ]
