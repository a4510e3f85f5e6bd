"""`llm-sandbox exec --tty`: a person's terminal, handed through to a program in a sandbox; and that
of the program that a sandbox is started with.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import TYPE_CHECKING

from llm_sandbox import Sandbox
from tests.processes.conftest import WAIT_S

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = (
    'trap "echo interrupted" INT; trap "stty size" WINCH; tty; stty size; while :; do read l; done'
)


class Person:
    """Somebody at a terminal, who runs a command in it."""

    def __init__(self, *words: str) -> None:
        self.master, slave = os.openpty()
        self._seen = ""
        self._size(20, 60)
        self.before = termios.tcgetattr(slave)
        self.process = subprocess.Popen(
            ["setsid", "--ctty", sys.executable, "-m", "llm_sandbox", *words],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "vt220"},
        )
        self.slave = slave

    def _size(self, rows: int, cols: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def resize(self, rows: int, cols: int) -> None:
        self._size(rows, cols)

    def types(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def sees(self, text: str) -> str:
        """Look until there is this text; what came up to there."""
        end = time.monotonic() + WAIT_S
        while text not in self._seen:
            assert time.monotonic() < end, self._seen
            if select.select([self.master], [], [], 0.2)[0]:
                self._seen += os.read(self.master, 1 << 16).decode()
        seen, _, self._seen = self._seen.partition(text)
        return seen + text

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for fd in (self.master, self.slave):
            with contextlib.suppress(OSError):
                os.close(fd)


def test_a_terminal_is_handed_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its size and kind, keys and new sizes reach the program; afterwards it is as it was."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with Sandbox.create(backend="bubblewrap", idle_timeout=600, name="desk"):
        person = Person("exec", "-i", "--tty", "desk", "--", "sh", "-c", PROGRAM)
        try:
            assert "/dev/pts/" in person.sees("20 60\r\n")
            person.resize(33, 77)
            person.sees("33 77\r\n")
            person.types("\x03")
            person.sees("interrupted\r\n")
            assert person.process.poll() is None
            person.types("\x1c")
            assert person.process.wait(WAIT_S) == 128 + signal.SIGQUIT
            assert termios.tcgetattr(person.slave) == person.before
        finally:
            person.close()


def test_a_sandbox_is_started_on_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As large as this one, and of its kind; without a program there is none to have it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    program = ("sh", "-c", "stty size; echo $TERM; cat")
    person = Person("start", "--tty", "-b", "bubblewrap", "-n", "desk", "--", *program)
    other = Person("start", "--tty", "-b", "bubblewrap")
    try:
        assert person.process.wait(WAIT_S) == 0
        with Sandbox.from_name("desk") as sandbox:
            assert sandbox.entry is not None
            lines = sandbox.entry.stdout.lines()
            assert [next(lines), next(lines)] == ["20 60\r", "vt220\r"]
            sandbox.terminate()
        other.sees("--tty is for a command")
        assert other.process.wait(WAIT_S) == 2
    finally:
        person.close()
        other.close()
