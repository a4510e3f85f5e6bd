"""Races of much output: its time, and the memory that it takes."""

import time
from collections.abc import Callable, Mapping

from benchmarks import processes
from benchmarks.live import LivePair
from benchmarks.race import CorrectnessError, Race, Row, Target
from llm_sandbox import Limits

__all__ = ["races"]

_BYTES = 50_000_000
_LINES = 500_000
_LOOP = 100_000
_FLOOD = 200_000_000
_LIMIT = 8 << 20

_ONE_WRITE = f"import sys; sys.stdout.write('x' * {_BYTES}); None"
_PRINTS = f"for _ in range({_LINES}): print('x' * {_BYTES // _LINES - 1})"
_FLOOD_PRINTS = f"for _ in range({_FLOOD // 1000}): print('x' * 999)"
_SHORT_PRINTS = f"for i in range({_LOOP}): print(i)"
_NULL_PRINTS = f"""
import os
with open(os.devnull, "w") as null:
    for i in range({_LOOP}): print(i, file=null)
"""
_SHORT_BYTES = sum(len(str(i)) + 1 for i in range(_LOOP))


def _timed(cell: Callable[[], str], size: int) -> tuple[float, float]:
    """Return the seconds that the cell took, and the greatest growth of this process in bytes."""
    before = processes.reset_peak()
    started = time.perf_counter()
    printed = cell()
    elapsed = time.perf_counter() - started
    growth = processes.peak_growth_since(before)
    if len(printed) != size:
        raise CorrectnessError(f"{len(printed)} characters came of {size}")
    return elapsed, growth / 1e6


def _much(run: Callable[[str], str]) -> Mapping[str, float]:
    write, write_growth = _timed(lambda: run(_ONE_WRITE), _BYTES)
    prints, prints_growth = _timed(lambda: run(_PRINTS), _BYTES)
    return {"write": write, "prints": prints, "growth": max(write_growth, prints_growth)}


def _ours(pair: LivePair) -> Mapping[str, float]:
    session = pair.session
    return _much(lambda code: session.run(code).stdout)


def _stock(pair: LivePair) -> Mapping[str, float]:
    stock = pair.stock
    return _much(stock.stdout)


def _ours_flooded(pair: LivePair) -> Mapping[str, float]:
    session = pair.session
    elapsed, growth = _timed(lambda: session.run(_FLOOD_PRINTS).stdout, _LIMIT)
    return {"flood": elapsed, "growth": growth}


def _stock_flooded(pair: LivePair) -> Mapping[str, float]:
    stock = pair.stock
    elapsed, growth = _timed(lambda: stock.stdout(_FLOOD_PRINTS), _FLOOD)
    return {"flood": elapsed, "growth": growth}


def _prints(pair: LivePair) -> Mapping[str, float]:
    session = pair.session
    elapsed, _ = _timed(lambda: session.run(_SHORT_PRINTS).stdout, _SHORT_BYTES)
    return {"loop": elapsed}


def _null(pair: LivePair) -> Mapping[str, float]:
    session = pair.session
    elapsed, _ = _timed(lambda: session.run(_NULL_PRINTS).stdout, 0)
    return {"loop": elapsed}


def races() -> list[Race]:
    """Return the races of this theme."""
    kept, capped, plain = (
        LivePair(Limits(output_bytes=64 << 20)),
        LivePair(Limits(output_bytes=_LIMIT)),
        LivePair(),
    )
    much = Race(
        name="output",
        lanes={"ours": kept.lane(_ours), "stock": kept.lane(_stock)},
        rows=(
            Row("50 MB in one write, all kept", "ours.write", "stock.write", Target("times", 4)),
            Row(
                "500,000 prints of 100 bytes, all kept",
                "ours.prints",
                "stock.prints",
                Target("times", 6),
            ),
            Row(
                "growth of the host process by these, at most",
                "ours.growth",
                "stock.growth",
                unit="MB",
            ),
        ),
        rounds=5,
        quick_rounds=2,
        finish=kept.close,
    )
    flood = Race(
        name="flood",
        lanes={"ours": capped.lane(_ours_flooded), "stock": capped.lane(_stock_flooded)},
        rows=(
            Row("200 MB printed, ours limited to 8 MiB", "ours.flood", "stock.flood"),
            Row(
                "growth of the host process by that",
                "ours.growth",
                "stock.growth",
                Target("below", 4 * _LIMIT / 1e6),
                unit="MB",
            ),
        ),
        rounds=3,
        quick_rounds=1,
        warm_up=False,
        finish=capped.close,
    )
    loop = Race(
        name="loop",
        lanes={"ours": plain.lane(_prints), "null": plain.lane(_null)},
        rows=(
            Row(
                "100,000 prints",
                "ours.loop",
                "null.loop",
                Target("share", 1.5),
                compared_with="the same loop into /dev/null",
            ),
        ),
        rounds=21,
        quick_rounds=9,
        finish=plain.close,
    )
    return [much, flood, loop]
