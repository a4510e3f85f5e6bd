"""Stopping code from outside the thread that runs it."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from llm_sandbox import BaseSession, ExecutionResult, RunStatus, StateOutcome, create_session
from llm_sandbox.kernel.stop import Stop
from llm_sandbox.limits import Deadline

DEAF = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN)"
NO_ANSWER_S = 20.0  # the kernel's grace, and time for a fresh one on a busy machine


@pytest.fixture
def session() -> Iterator[BaseSession]:
    with create_session("bubblewrap") as session:
        yield session


class Started:
    """Tells when code has said something, and stops it then from another thread."""

    def __init__(self, stop: Callable[[], object]) -> None:
        self._said = threading.Event()
        self._stop = stop
        self.stopped_at = 0.0
        self._thread = threading.Thread(target=self._wait)
        self._thread.start()

    def _wait(self) -> None:
        assert self._said.wait(30)
        time.sleep(0.1)  # until the code is where it stays
        self.stopped_at = time.monotonic()
        self._stop()

    def hear(self, _: str) -> None:
        self._said.set()

    def join(self) -> None:
        self._thread.join(30)


def run_and_stop(session: BaseSession, code: str, **options: Any) -> ExecutionResult:
    started = Started(session.interrupt)
    result = session.run(f"print('begun', flush=True)\n{code}", on_stdout=started.hear, **options)
    assert time.monotonic() - started.stopped_at < NO_ANSWER_S
    started.join()
    return result


def test_stopped_code_keeps_what_it_did(session: BaseSession) -> None:
    """A result, not an exception: killed by SIGINT, with output and variables kept."""
    result = run_and_stop(session, "v = 5\nwhile True: pass")

    assert (RunStatus.KILLED, 130, 2) == (result.status, result.exit_code, result.signal)
    assert "begun\n" == result.stdout
    assert not result.timed_out
    assert StateOutcome.KEPT is result.state
    assert "5" == session.run("v").value


def test_a_stop_is_heard_at_once(session: BaseSession) -> None:
    """Sleeping code does not sleep on, with a deadline far away or none."""
    for timeout in (None, 600):
        result = run_and_stop(session, "import time\ntime.sleep(60)", timeout=timeout)

        assert RunStatus.KILLED is result.status


@pytest.mark.parametrize(
    "code",
    ["sum(range(10**13))", f"{DEAF}\nwhile True: time.sleep(1)"],
    ids=["c-loop", "deaf"],
)
def test_what_does_not_answer_is_ended(session: BaseSession, code: str) -> None:
    result = run_and_stop(session, code)

    assert (RunStatus.KILLED, 130, 2) == (result.status, result.exit_code, result.signal)
    assert StateOutcome.RESET is result.state
    assert "2\n" == session.run("print(2)").stdout


def test_nothing_runs_and_nothing_is_stopped(session: BaseSession) -> None:
    """A stop before the first run, or between two, does not reach the next one."""
    session.interrupt()
    assert RunStatus.OK is session.run("1").status
    session.interrupt()
    assert RunStatus.OK is session.run("import time; time.sleep(0.2)").status


def test_a_stop_before_the_code_was_sent(session: BaseSession) -> None:
    """Code that was stopped while its run was being prepared is never run."""
    kernel = session._life.runtime().kernel
    with Stop() as stop:
        assert stop.ask()
        result = kernel.run("open('made', 'w')", Deadline.after(None), None, None, stop)

    assert RunStatus.KILLED is result.status
    assert not session.sandbox.files.exists("made")
    assert not stop.ask(), "it is over"


def test_a_late_stop_is_a_timeout(session: BaseSession) -> None:
    """Whichever comes first names the end."""
    timer = threading.Timer(0.8, session.interrupt)
    timer.start()
    with pytest.raises(TimeoutError):
        session.run(f"{DEAF}\nwhile True: time.sleep(1)", timeout=0.3)
    timer.join()


def test_closing_stops_the_code_of_another_thread(session: BaseSession) -> None:
    started = Started(session.close)
    result = session.run("print(1, flush=True)\nwhile True: pass", on_stdout=started.hear)
    started.join()

    assert RunStatus.KILLED is result.status
    assert not session.is_open


def test_a_session_can_be_closed_by_its_own_callback() -> None:
    """It does not wait for itself."""
    session = create_session("bubblewrap")
    session.open()
    begun = time.monotonic()

    def close(_: str) -> None:
        session.close()

    with contextlib.suppress(Exception):  # how it ends is not promised, only that it does
        session.run("print(1, flush=True)\nimport time; time.sleep(60)", on_stdout=close)
    assert time.monotonic() - begun < NO_ANSWER_S


def test_many_stops_from_many_threads(session: BaseSession) -> None:
    """Stops at any moment of many short runs leave the session whole."""
    over = threading.Event()

    def pester() -> None:
        while not over.wait(0.0007):
            session.interrupt()

    threads = [threading.Thread(target=pester) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        seen = {session.run(f"x = {number}\nx").status for number in range(150)}
    finally:
        over.set()
        for thread in threads:
            thread.join()

    assert seen <= {RunStatus.OK, RunStatus.KILLED}
    assert "7" == session.run("7").value


INTERRUPTS_A_WRITE = """
import os, signal, sys

def profile(frame, event, _):
    owner = type(frame.f_locals.get("self")).__name__
    if event == "call" and (owner, frame.f_code.co_name) == ("CapturedStream", "{method}"):
        sys.setprofile(None)
        os.kill(os.getpid(), signal.SIGINT)

caught = 0
try:
    try:
        sys.setprofile(profile)
        print("whole " * 3, flush=True)
    except KeyboardInterrupt:
        caught += 1
        print("stopped", file=sys.stderr, flush=True)
except KeyboardInterrupt:
    caught += 1
"""


@pytest.mark.parametrize("method", ["write", "flush"])
def test_an_interrupt_during_a_write_arrives_after_it(session: BaseSession, method: str) -> None:
    result = session.run(INTERRUPTS_A_WRITE.format(method=method))

    assert result.stdout.strip() == "whole whole whole"
    assert (session.get("caught"), result.stderr) == (1, "stopped\n"), "once"
    assert session.run("print('on')").stdout == "on\n"
