"""Races of one snippet in one interpreter, as in the evaluation of generated code."""

import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from benchmarks import ours
from benchmarks.race import CorrectnessError, Race, Row, Target
from llm_sandbox.backends.bubblewrap.binary import find_bwrap
from llm_sandbox.session.session import BaseSession

__all__ = ["races"]

_SNIPPET = "print(1)"
_SCIENCE = "import numpy, pandas; print(1)"
_SNIPPETS = 10
_WORKERS = 2


def _bwrap(code: str) -> str:
    words = [
        str(find_bwrap(None).path),
        *("--unshare-all", "--die-with-parent", "--new-session"),
        *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"),
        *(sys.executable, "-I", "-c", code),
    ]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def _each(run: Callable[[str], str], code: str, count: int) -> float:
    started = time.perf_counter()
    for _ in range(count):
        printed = run(code)
        if printed != "1\n":
            raise CorrectnessError(f"a snippet printed {printed!r}")
    return (time.perf_counter() - started) / count


def _together(runs: list[Callable[[str], str]]) -> float:
    with ThreadPoolExecutor(len(runs)) as workers:
        started = time.perf_counter()
        list(workers.map(lambda run: _each(run, _SNIPPET, _SNIPPETS), runs))
        return (time.perf_counter() - started) / (_SNIPPETS * len(runs))


def _one_shots() -> BaseSession:
    session = ours.new_session(persistent=False)
    session.open()
    # The first run uses the interpreter that came with the session; the second gets its own.
    ours.checked_run(session, "mark = 1; print(1)", "1\n")
    ours.checked_run(session, "print('mark' in globals())", "False\n")
    return session


def _runner(session: BaseSession) -> Callable[[str], str]:
    return lambda code: session.run(code).stdout


def _ours() -> Mapping[str, float]:
    with ours.without_pool():
        sessions = [_one_shots() for _ in range(_WORKERS)]
    try:
        runs = [_runner(session) for session in sessions]
        return {
            "alone": _each(runs[0], _SNIPPET, _SNIPPETS),
            "science": _each(runs[0], _SCIENCE, 2),
            "together": _together(runs),
        }
    finally:
        for session in sessions:
            session.close()


def _stock() -> Mapping[str, float]:
    return {
        "alone": _each(_bwrap, _SNIPPET, _SNIPPETS),
        "science": _each(_bwrap, _SCIENCE, 2),
        "together": _together([_bwrap] * _WORKERS),
    }


def races() -> list[Race]:
    """Return the races of this theme."""
    against = "bwrap python -c, each"
    return [
        Race(
            name="oneshot",
            lanes={"ours": _ours, "stock": _stock},
            rows=(
                Row(
                    "one-shot snippet, one at a time",
                    "ours.alone",
                    "stock.alone",
                    Target("times", 3),
                    compared_with=against,
                ),
                Row(
                    "one-shot snippets, two at a time",
                    "ours.together",
                    "stock.together",
                    Target("times", 3),
                    compared_with=against,
                ),
                Row(
                    "one-shot snippet that imports numpy and pandas",
                    "ours.science",
                    "stock.science",
                    compared_with=against,
                ),
            ),
            rounds=7,
            quick_rounds=3,
        )
    ]
