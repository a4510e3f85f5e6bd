"""The command line as a process, the way its users have it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import BackendUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "llm_sandbox"]


class Done(NamedTuple):
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


def environment(**changes: str) -> dict[str, str]:
    """The environment of a command, without what the caller's own would change."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LLM_SANDBOX")}
    own = {"PYTHONPATH": str(ROOT), "LLM_SANDBOX_CLI_DAEMON_S": "0"}
    # Most commands end before the libraries of figures are loaded, which takes seconds of the CPU.
    own["LLM_SANDBOX_PRELOAD"] = "lean"
    return {**kept, **own, "TERM": "xterm", "COLUMNS": "200", **changes}


@pytest.fixture(scope="session")
def isolation() -> None:
    """Skip where nothing isolates."""
    try:
        get_backend("bubblewrap").check()
    except BackendUnavailableError as error:
        pytest.skip(f"no sandbox here: {error.message}")


@pytest.fixture
def cli(tmp_path: Path) -> Callable[..., Done]:
    """Run a command in an empty directory to its end."""

    def run(*words: str, stdin: str | None = None, **changes: str) -> Done:
        done = subprocess.run(
            [*COMMAND, *words],
            input=None if stdin is None else stdin.encode(),
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            cwd=tmp_path,
            env=environment(**changes),
            timeout=100,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a command with pipes."""
    started: list[subprocess.Popen[str]] = []

    def begin(*words: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*COMMAND, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=tmp_path,
            env=environment(),
            text=True,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


class Family:
    """The processes below one, as they were found."""

    def __init__(self, pid: int) -> None:
        self.pids = _descendants(pid)

    def survivors(self, seconds: float = 5.0) -> set[int]:
        """Those that do not end in that time."""
        end = time.monotonic() + seconds
        left = self.pids
        while left and time.monotonic() < end:
            left = {pid for pid in left if _lives(pid)}
            time.sleep(0.02)
        return left


def _lives(pid: int) -> bool:
    """Tell a running process; one that has ended may be kept by whoever adopted it."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] not in "ZX"


def _descendants(pid: int) -> set[int]:
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, task.read_text().split()):
                found |= {child} | _descendants(child)
    return found


@pytest.fixture
def family() -> type[Family]:
    """Finds the processes of a command."""
    return Family


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, *words: str, cwd: Path, **changes: str) -> None:
        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [*COMMAND, *words],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=cwd,
            env=environment(**changes),
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - one call
        )
        os.close(slave)
        self.text = ""

    def expect(self, text: str, seconds: float = 60.0) -> str:
        """Wait for text, and return everything up to its end that was not returned before."""
        end = time.monotonic() + seconds
        while text not in self.text:
            left = end - time.monotonic()
            assert left > 0, f"{text!r} did not come, but {self.text!r}"
            if select.select([self._master], [], [], left)[0]:
                try:
                    data = os.read(self._master, 65536)
                except OSError:
                    data = b""
                assert data, f"{text!r} did not come, but {self.text!r}, and the end"
                self.text += data.decode("utf-8", "replace")
        before, _, self.text = self.text.partition(text)
        return before + text

    def type(self, text: str) -> None:
        """Type text."""
        os.write(self._master, text.encode())

    def wait(self) -> int:
        """Wait for the end, and return the exit code; takes in what is written until then."""
        with contextlib.suppress(OSError):
            while data := os.read(self._master, 65536):
                self.text += data.decode("utf-8", "replace")
        return self.process.wait(30)

    def close(self) -> None:
        """End the command, if it has not ended."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        os.close(self._master)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    """Start a command on a terminal."""
    started: list[Terminal] = []

    def start(*words: str, **changes: str) -> Terminal:
        started.append(Terminal(*words, cwd=tmp_path, **changes))
        return started[-1]

    yield start
    for one in started:
        one.close()
