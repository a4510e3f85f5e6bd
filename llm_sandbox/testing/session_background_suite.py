"""What runs put out after they have ended."""

import time

from llm_sandbox.results.outputs import BackgroundOutput
from llm_sandbox.session.session import BaseSession
from llm_sandbox.testing.session_fixtures import SessionFixtures

__all__ = ["SessionBackgroundSuite"]

_LATE = """
import threading

go = threading.Event()

def work():
    go.wait()
    print("late")

thread = threading.Thread(target=work)
thread.start()
"""
_PATIENCE_S = 30.0


class SessionBackgroundSuite(SessionFixtures):
    """Background output."""

    def test_a_late_print_belongs_to_its_run(self, own: BaseSession) -> None:
        """What a thread prints in the time of a later run is that of the run that started it."""
        own.run("before = 1")
        own.run(_LATE)

        later = own.run("go.set(); thread.join(); print('mine')")

        assert later.stdout == "mine\n"
        assert [note for note in later.notes if "(run 2)" in note]
        assert _facts(own.background_output()) == [(2, "stdout", "late\n")]
        assert own.background_output() == []

    def test_late_output_comes_while_nothing_runs(self, own: BaseSession) -> None:
        """What a thread prints between runs, and its traceback, can be taken without another."""
        own.run(f"{_LATE}\ndef fail():\n    thread.join()\n    1 / 0")
        own.run("threading.Thread(target=fail).start(); threading.Timer(0.2, go.set).start()")

        found = _await_text(own, "ZeroDivisionError")

        assert (1, "stdout", "late\n") in found
        errors = "".join(text for run, stream, text in found if (run, stream) == (2, "stderr"))
        assert "ZeroDivisionError: division by zero" in errors

    def test_a_child_process_that_outlives_its_run(self, own: BaseSession) -> None:
        """What a process writes between runs belongs to the only run that can have started it."""
        own.run("before = 1")
        own.run("import subprocess\nchild = subprocess.Popen(['sh', '-c', 'sleep 0.2; echo late'])")

        assert _await_text(own, "late") == [(2, "stdout", "late\n")]


def _facts(records: list[BackgroundOutput]) -> list[tuple[int | None, str | None, str]]:
    return [(record.run, record.stream, record.text) for record in records]


def _await_text(session: BaseSession, text: str) -> list[tuple[int | None, str | None, str]]:
    found: list[tuple[int | None, str | None, str]] = []
    end = time.monotonic() + _PATIENCE_S
    while not any(text in piece for _, _, piece in found) and time.monotonic() < end:
        time.sleep(0.05)
        found += _facts(session.background_output())
    return found
