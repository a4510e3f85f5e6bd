"""Progress of a run: what a callback is given, and what a terminal shows."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from llm_sandbox.evaluation.progress import Progress, ProgressMonitor
from llm_sandbox.evaluation.results import TestResult
from llm_sandbox.evaluation.verdict import Verdict
from tests.evaluation.made_results import make_result

ROOT = Path(__file__).parents[2]

PROGRAM = """
from llm_sandbox.evaluation.progress import ProgressMonitor
from tests.evaluation.made_results import make_result

with ProgressMonitor(20, resumed=10) as monitor:
    for number in range(10):
        monitor.add(make_result(f"t#{number}", "AC" if number % 2 else "WA"))
    print("output of the program")
"""


def test_numbers() -> None:
    progress = Progress(
        total=100, done=40, resumed=20, accepted=9, infra_errors=2, reruns=3, elapsed_s=10.0
    )
    assert 2.0 == progress.rate
    assert 0.5 == progress.accepted_share
    assert 30.0 == progress.eta_s
    assert "40/100  2.0/s  AC 50.0%  IE 2  reruns 3  ETA 0:30" == str(progress)


def test_numbers_that_are_not_known_are_none() -> None:
    begin = Progress(total=5)
    assert (0.0, None, None) == (begin.rate, begin.accepted_share, begin.eta_s)
    stream = Progress(total=None, done=3, infra_errors=3, elapsed_s=1.0)
    assert (None, None) == (stream.accepted_share, stream.eta_s)
    assert "3  3.0/s  IE 3  reruns 0" == str(stream)
    assert "ETA 2:46:40" in str(Progress(total=10_001, done=1, elapsed_s=1.0))


def test_a_callback_is_told_of_each_result() -> None:
    seen: list[Progress] = []
    rerun = TestResult(index=0, verdict=Verdict.ACCEPTED, attempts=3)
    with ProgressMonitor(5, resumed=1, on_progress=seen.append) as monitor:
        monitor.add(make_result("a", tests=(rerun,)))
        monitor.add(make_result("b", "IE", tests=(), attempts=4))
        monitor.add(make_result("c", "WA"))
    assert [2, 3, 4] == [progress.done for progress in seen]
    last = seen[-1]
    assert (5, 1, 1, 1, 5) == (
        last.total,
        last.resumed,
        last.accepted,
        last.infra_errors,
        last.reruns,
    )
    assert 0.5 == last.accepted_share


def test_an_error_of_the_callback_goes_to_the_caller() -> None:
    def stop(progress: Progress) -> None:
        raise KeyError(progress.done)

    with ProgressMonitor(1, on_progress=stop) as monitor, pytest.raises(KeyError):
        monitor.add(make_result("a"))


def test_threads_share_a_monitor() -> None:
    with ProgressMonitor(None) as monitor:

        def add() -> None:
            for number in range(200):
                monitor.add(make_result(f"t#{number}"))

        threads = [threading.Thread(target=add) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (800, 800) == (monitor.progress.done, monitor.progress.accepted)


def test_nothing_is_shown_where_stderr_is_no_terminal() -> None:
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert ("output of the program\n", "", 0) == (done.stdout, done.stderr, done.returncode)


@pytest.mark.parametrize(("term", "is_shown"), [("xterm", True), ("dumb", False)])
def test_a_terminal_has_a_bar(term: str, is_shown: bool) -> None:
    """And the program's own output is left alone."""
    controller, terminal = pty.openpty()
    environment = {**os.environ, "TERM": term, "COLUMNS": "120", "LINES": "24"}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdout=subprocess.PIPE,
        stderr=terminal,
        text=True,
        cwd=ROOT,
        env=environment,
    ) as child:
        os.close(terminal)
        shown = b""
        while True:
            try:
                data = os.read(controller, 65536)
            except OSError:  # the terminal was closed
                break
            if not data:
                break
            shown += data
        os.close(controller)
        output, _ = child.communicate()
    assert ("output of the program\n", 0) == (output, child.returncode)
    assert is_shown is (b"20/20" in shown)
    assert is_shown is (b"AC 50.0%" in shown)
