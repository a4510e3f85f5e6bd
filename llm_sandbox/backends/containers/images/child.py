"""A program that helps to build: followed line by line, and never outliving the one who waits."""

import contextlib
import os
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from llm_sandbox.exceptions import BackendError
from llm_sandbox.host.terminal import strip_controls

__all__ = ["Tail", "run_child"]

_TAIL_LINES = 20
_TIDY_UP_S = 30.0


class Tail:
    """The last lines of something that may fail."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=_TAIL_LINES)

    def add(self, text: str) -> None:
        """Take some output; only whole lines, please."""
        # trust: builders print what packages and images say of themselves.
        clean = (strip_controls(line).rstrip() for line in text.splitlines())
        self._lines.extend(line for line in clean if line)

    def __str__(self) -> str:
        return "\n".join(f"  | {line}" for line in self._lines)


def run_child(
    argv: Sequence[str],
    *,
    what: str,
    hint: str,
    env: Mapping[str, str] | None = None,
    on_line: Callable[[str], None] = lambda _: None,
) -> None:
    """Run a program to its end.

    Interrupted (KeyboardInterrupt, or any other exception here), it is asked to end and waited for,
    so that it can undo what it has mounted; after 30 s it is killed.

    Args:
        argv: The command.
        what: What it is for, such as ``fetching the wheels``, for the error.
        hint: What to try when it fails.
        env: Variables to add to this process's own.
        on_line: Called with each line that it writes.

    Raises:
        BackendError: It did not end with status 0; the message has its last 20 lines.
    """
    tail = Tail()
    # In a session of its own, a Ctrl-C typed at the terminal reaches it through us alone, once.
    child = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **(env or {})},
        start_new_session=True,
        text=True,
        errors="replace",
    )
    try:
        assert child.stdout is not None  # noqa: S101 - for the type checker
        for line in child.stdout:
            tail.add(line)
            on_line(line.rstrip())
        status = child.wait()
    except BaseException:
        _end(child)
        raise
    finally:
        if child.stdout is not None:
            child.stdout.close()
    if status:
        raise BackendError(
            f"{what} failed: {argv[0]} ended with status {status}\n{tail}", op="build", hint=hint
        )


def _end(child: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGTERM)
    try:
        child.wait(_TIDY_UP_S)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
