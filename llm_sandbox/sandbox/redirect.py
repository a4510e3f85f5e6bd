"""Redirection of a program's output: discarded, to this process's own output, or to a file."""

import contextlib
import io
import os
import select
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Literal, TypeAlias

from llm_sandbox.backends.base import Machine, ProcessSpec
from llm_sandbox.exceptions import SandboxTimeoutError, UnsupportedError, ValidationError
from llm_sandbox.sandbox.spool import Spool

__all__ = ["ErrorTarget", "OutputTarget", "Redirection", "check_streams", "open_redirection"]

OutputTarget: TypeAlias = "str | os.PathLike[str] | BinaryIO"
"""``pipe``: to `Process` only; ``null``: discarded at the source; ``inherit``: file descriptor 1 or
2 of this process; or a file of this computer, by its path or as a binary file object.
"""
ErrorTarget: TypeAlias = "OutputTarget | Literal['stdout']"
"""An `OutputTarget`, or ``stdout`` to merge into that stream in the order of writing."""

_WORDS = ("pipe", "null", "inherit")


class _Sink:
    """Sink for bytes.

    Args:
        write: Function that writes some bytes and returns their number, or None for all.
        close: Function that is called at the end.
    """

    def __init__(
        self, write: Callable[[memoryview], int | None], close: Callable[[], None]
    ) -> None:
        self._write = write
        self._close = close
        self._failure: Exception | None = None
        self._done = threading.Event()

    def follow(self, spool: Spool) -> None:
        """Write the content of a spool as it arrives, in a thread."""
        threading.Thread(
            target=self._copy, args=(spool,), name="llm-sandbox-copy", daemon=True
        ).start()

    def _copy(self, spool: Spool) -> None:
        offset = 0
        try:
            while data := spool.read(offset):
                offset += len(data)
                view = memoryview(data)
                while view:
                    written = self._write(view)
                    view = view[len(view) if written is None else written :]
        except Exception as error:  # noqa: BLE001 - raised where the program's end is waited for
            self._failure = error
        finally:
            self.close()
            self._done.set()

    def close(self) -> None:
        """Close the sink."""
        with contextlib.suppress(OSError):
            self._close()

    def finish(self, deadline: float | None) -> bool:
        """Wait until everything was written; return False after the time limit.

        Raises:
            Exception: Error of the writing.
        """
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        if not self._done.wait(left):
            return False
        if self._failure is not None:
            raise self._failure
        return True


@dataclass
class Redirection:
    """Targets of both streams."""

    stdout: Literal["pipe", "null"] = "pipe"
    """Kind of the program's standard output."""
    stderr: Literal["pipe", "null", "stdout"] = "pipe"
    """Kind of the program's standard error."""
    sinks: list[tuple[int, _Sink]] = field(default_factory=list)
    """Sinks of the first (0) or the second (1) stream."""

    def follow(self, spools: tuple[Spool, Spool]) -> None:
        """Start to copy the program's output."""
        for number, sink in self.sinks:
            sink.follow(spools[number])

    def close(self) -> None:
        """Close all sinks: the program did not start."""
        for _, sink in self.sinks:
            sink.close()

    def finish(self, timeout: float | None = None) -> None:
        """Wait until all stored output was written.

        Raises:
            SandboxTimeoutError: Writing took longer than `timeout` seconds.
            Exception: Error of the writing, such as `OSError` for a full disk.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        for _, sink in self.sinks:
            if not sink.finish(deadline):
                assert timeout is not None  # noqa: S101 - else it is waited for
                raise SandboxTimeoutError(
                    f"the program has ended; what takes its output did not in {timeout} s",
                    timeout,
                    op="wait",
                )


def open_redirection(stdout: OutputTarget, stderr: ErrorTarget, *, merged: bool) -> Redirection:
    """Open the targets of a program's output.

    Args:
        stdout: Argument of `exec`.
        stderr: Argument of `exec`.
        merged: Whether there is only one stream, as of a terminal.

    Raises:
        OSError: A file could not be opened.
        ValidationError: A target is invalid.
    """
    _check("stdout", stdout)
    if stderr != "stdout":
        _check("stderr", stderr)
        if merged and stderr != "pipe":
            raise ValidationError(
                "a terminal has one output: give stdout, and leave stderr", parameter="stderr"
            )
    if _is_path(stdout) and _is_path(stderr) and _real(stdout) == _real(stderr):
        raise ValidationError(
            "invalid stderr: it is the file of stdout; give stderr='stdout'", parameter="stderr"
        )
    targets = Redirection()
    try:
        for number, target in enumerate((stdout, stderr)):
            if target == "null":
                if number == 0:
                    targets.stdout = "null"
                else:
                    targets.stderr = "null"
            elif target == "stdout":
                targets.stderr = "stdout"
            elif target != "pipe":
                targets.sinks.append((number, _open(number, target)))
    except BaseException:
        targets.close()
        raise
    return targets


def check_streams(machine: Machine, spec: ProcessSpec) -> None:
    """Refuse targets that a machine does not support.

    Raises:
        UnsupportedError: The machine starts programs with three pipes only.
    """
    if machine.arranges_streams:
        return
    wants = (
        (spec.terminal is not None, "pty"),
        (spec.stdout != "pipe", f"stdout={spec.stdout!r}"),
        (spec.stderr != "pipe", f"stderr={spec.stderr!r}"),
    )
    for wanted, name in wants:
        if wanted:
            backend = machine.isolation.backend
            raise UnsupportedError(name, backend, "its programs have three pipes and nothing else")


def _check(name: str, target: object) -> None:
    if isinstance(target, str):
        if target in _WORDS or os.sep in target:
            return
        raise ValidationError(
            f"{name}={target!r} is neither {', '.join(map(repr, _WORDS))} nor a path with a '/'",
            parameter=name,
            hint=f"for a file of that name: {name}='./{target}'",
        )
    if isinstance(target, os.PathLike):
        return
    if isinstance(target, io.TextIOBase) or not callable(getattr(target, "write", None)):
        raise ValidationError(
            f"{name} is 'pipe', 'null', 'inherit', a path or a binary file object, "
            f"not {type(target).__name__}",
            parameter=name,
        )


def _is_path(target: object) -> bool:
    return isinstance(target, os.PathLike) or (isinstance(target, str) and os.sep in target)


def _real(target: Any) -> str:
    return os.path.realpath(str(os.fspath(target)))


def _open(number: int, target: OutputTarget) -> _Sink:
    if target == "inherit":
        stream = (sys.stdout, sys.stderr)[number]
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()  # what was written before comes before
        return _to_descriptor(os.dup(number + 1))
    if isinstance(target, str | os.PathLike):
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
        return _to_descriptor(os.open(target, flags, 0o666))
    return _to_object(target)


def _to_descriptor(fd: int) -> _Sink:
    def write(data: memoryview) -> int:
        # trust: bytes from inside, written as they are: a terminal obeys what they say to it.
        try:
            return os.write(fd, data)
        except BlockingIOError:
            select.select([], [fd], [])
            return 0

    return _Sink(write, lambda: os.close(fd))


def _to_object(file: BinaryIO) -> _Sink:
    def write(data: memoryview) -> int | None:
        written = file.write(data)
        flush = getattr(file, "flush", None)
        if flush is not None:
            flush()
        return written

    return _Sink(write, lambda: None)
