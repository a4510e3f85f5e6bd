"""Races from nothing to the first result, and back."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping

from benchmarks import ours
from benchmarks.race import CorrectnessError, Race, Row, Target
from benchmarks.stock import StockKernel

__all__ = ["races"]

_CELL = "print(1)"
_PRINTED = "1\n"
_OWN = "LLM_SANDBOX_"

_OURS_IN_NEW_PROCESS = f"""
from llm_sandbox import create_session
with create_session(backend={ours.BACKEND!r}, lang="python") as session:
    print(session.run("print(1)").stdout, end="", flush=True)
"""

_STOCK_IN_NEW_PROCESS = """
import subprocess
from jupyter_client.manager import start_new_kernel
manager, client = start_new_kernel(stderr=subprocess.DEVNULL)
def show(message):
    if message["msg_type"] == "stream":
        print(message["content"]["text"], end="", flush=True)
client.execute_interactive("print(1)", output_hook=show)
client.stop_channels()
manager.shutdown_kernel(now=True)
"""


def _session() -> Mapping[str, float]:
    started = time.perf_counter()
    session = ours.new_session()
    try:
        session.open()
        result = session.run(_CELL)
        first = time.perf_counter()
    finally:
        closing = time.perf_counter()
        session.close()
        closed = time.perf_counter()
    if result.stdout != _PRINTED:
        raise CorrectnessError(f"our session answered {result!r}")
    return {"first": first - started, "close": closed - closing}


def _preforked() -> Mapping[str, float]:
    return _session()


def _forked() -> Mapping[str, float]:
    ours.prefork(0)
    try:
        return _session()
    finally:
        ours.prefork(ours.PREFORK)


def _stock() -> Mapping[str, float]:
    kernel = StockKernel()
    started = time.perf_counter()
    kernel.open()
    try:
        printed = kernel.stdout(_CELL)
        first = time.perf_counter() - started
    finally:
        close = kernel.close()
    if printed != _PRINTED:
        raise CorrectnessError(f"the stock kernel printed {printed!r}")
    return {"first": first, "close": close}


def _eager() -> Mapping[str, float]:
    kernel = StockKernel(wait=False)
    started = time.perf_counter()
    kernel.open()
    try:
        kernel.run_blind(_CELL)
        return {"first": time.perf_counter() - started}
    finally:
        kernel.close()


def _new_process(code: str) -> Mapping[str, float]:
    environment = {name: os.environ[name] for name in os.environ if not name.startswith(_OWN)}
    started = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        first = time.perf_counter() - started
        rest = process.stdout.read()
        code_of_exit = process.wait()
        whole = time.perf_counter() - started
    if (line + rest, code_of_exit) != (_PRINTED.encode(), 0):
        raise CorrectnessError(f"a new process printed {line + rest!r} and exited {code_of_exit}")
    return {"first": first, "whole": whole}


def races() -> list[Race]:
    """Return the races of this theme."""
    warm = Race(
        name="opening",
        lanes={
            "preforked": _preforked,
            "forked": _forked,
            "stock": _stock,
            "eager": _eager,
        },
        rows=(
            Row(
                "first result, pre-forked session",
                "preforked.first",
                "stock.first",
                Target("times", 100),
            ),
            Row("first result, fresh fork", "forked.first", "stock.first", Target("times", 15)),
            Row(
                "first result, fresh fork",
                "forked.first",
                "eager.first",
                compared_with="stock kernel without wait_for_ready",
            ),
            Row("close", "forked.close", "stock.close", Target("below", 0.050)),
        ),
        rounds=15,
        quick_rounds=5,
        prepare=ours.settle,
    )
    cold = Race(
        name="new process",
        lanes={
            "ours": lambda: _new_process(_OURS_IN_NEW_PROCESS),
            "stock": lambda: _new_process(_STOCK_IN_NEW_PROCESS),
        },
        rows=(
            Row(
                "first result in a new process, imports included",
                "ours.first",
                "stock.first",
                Target("times", 2),
            ),
            Row(
                "the same until the process has ended",
                "ours.whole",
                "stock.whole",
                Target("times", 2),
            ),
        ),
        rounds=7,
        quick_rounds=3,
        prepare=ours.settle,
    )
    return [warm, cold]
