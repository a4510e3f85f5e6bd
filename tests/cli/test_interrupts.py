"""A command that is interrupted, or that nobody reads: it ends soon and leaves nothing."""

from __future__ import annotations

import signal
import sys
import time
import weakref
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.cli.interruption import Interruption

if TYPE_CHECKING:
    from tests.cli.conftest import Family  # for the type checker only

pytestmark = pytest.mark.usefixtures("isolation")

Start = "Callable[..., subprocess.Popen[str]]"


@pytest.mark.parametrize(
    "code",
    [
        "import time; time.sleep(60)",
        "while True: pass",
        "while True: print('x' * 100)",
        "import signal; signal.signal(2, signal.SIG_IGN)\nwhile True: pass",
        "import os, time\nos.fork() or os.setsid()\ntime.sleep(60)",
    ],
    ids=["sleep", "busy", "prints", "ignores", "forks"],
)
def test_ctrl_c(start: Start, family: type[Family], code: str) -> None:
    """Ctrl-C ends the program whatever it does: 130, no traceback, no process left."""
    process = start("run", "-c", f"print('go', flush=True)\n{code}")
    assert process.stdout is not None
    assert "go\n" == process.stdout.readline()
    time.sleep(0.1)
    processes = family(process.pid)
    assert processes.pids
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert 130 == process.returncode
    assert "Traceback" not in err
    assert set() == processes.survivors()


@pytest.mark.parametrize("delay", [0.15, 0.3, 0.5, 0.8])
def test_ctrl_c_while_it_starts(start: Start, family: type[Family], delay: float) -> None:
    """Ctrl-C before the program runs ends everything, too."""
    process = start("run", "-c", "import time; time.sleep(60)")
    time.sleep(delay)
    processes = family(process.pid)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    # Before Python has come to our code, the signal itself is the end.
    assert process.returncode in (130, -signal.SIGINT)
    assert set() == processes.survivors()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
def test_killed(start: Start, family: type[Family], number: signal.Signals) -> None:
    """A command that is killed takes its sandbox with it."""
    process = start("run", "-c", "print('go', flush=True)\nwhile True: pass")
    assert process.stdout is not None
    process.stdout.readline()
    processes = family(process.pid)
    process.send_signal(number)
    process.communicate(timeout=20)
    assert set() == processes.survivors()


@pytest.mark.parametrize("words", [[], ["--json", "--stream"]], ids=["text", "events"])
def test_closed_pipe(start: Start, family: type[Family], words: list[str]) -> None:
    """A program that nobody reads any more is ended, as one outside would be."""
    process = start("run", *words, "-c", "while True: print('x' * 100)")
    assert process.stdout is not None
    process.stdout.readline()
    processes = family(process.pid)
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(timeout=20)
    assert (141, "") == (process.returncode, err)
    assert set() == processes.survivors()


def test_ctrl_c_that_python_ignores_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a sandbox starts it may come in a callback, whose exceptions go nowhere."""
    ignored: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda facts: ignored.append(facts.exc_type))
    interruption = Interruption()
    with interruption:
        held = Interruption()
        watch = weakref.ref(held, lambda _: signal.raise_signal(signal.SIGINT))
        del held
        assert ignored == [KeyboardInterrupt]
        with pytest.raises(KeyboardInterrupt):
            interruption.run(None, "1")  # type: ignore[arg-type]
    assert watch() is None
