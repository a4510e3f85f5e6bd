"""This command's own terminal, handed through to a program in a sandbox."""

import contextlib
import os
import signal
import termios
import threading
import tty
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llm_sandbox.sandbox import Process, Terminal

__all__ = ["handed_through", "like_this"]


def like_this() -> "Terminal":
    """A terminal as this command's own is, or a usual one where it has none."""
    from llm_sandbox.sandbox import Terminal

    usual = Terminal(term=os.environ.get("TERM") or "dumb")
    with contextlib.suppress(OSError):
        size = os.get_terminal_size(0)
        if size.lines and size.columns:
            return Terminal(size.lines, size.columns, usual.term)
    return usual


@contextlib.contextmanager
def handed_through(process: "Process") -> Iterator[None]:
    """Have each key, and each new size, go to the program inside the block, and nothing be echoed
    here: its own terminal does that.

    Nothing changes where this command's standard input is no terminal.
    """
    try:
        before = termios.tcgetattr(0)
    except termios.error:
        yield
        return

    def follow() -> None:
        with contextlib.suppress(OSError):
            size = os.get_terminal_size(0)
            if size.lines and size.columns:
                process.resize(size.lines, size.columns)

    def heard(*_: object) -> None:
        # In a thread: a handler may run in the middle of what it would have to wait for.
        threading.Thread(target=follow, daemon=True).start()

    old = signal.signal(signal.SIGWINCH, heard)
    try:
        tty.setraw(0)
        follow()
        yield
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)
        signal.signal(signal.SIGWINCH, old)
