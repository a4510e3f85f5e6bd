"""Parent headers: the request that output belongs to, by thread and task.

A task inherits it from its context, a thread from the code that started it, and a call in a thread
pool from the code that submitted it, so that their output after the end of their cell is not taken
for that of a later cell.
"""

import _thread
import contextvars
import functools
import sys
import threading
from collections.abc import Callable
from typing import Any

_STARTERS = ("_start_new_thread", "_start_joinable_thread")


class Parent:
    """One request, as the parent of messages.

    Attributes:
        header: The header of the request.
        heads: Encoded heads of its stream messages, by stream.
        ended: Whether it has been answered, so that further output is late.
    """

    __slots__ = ("ended", "header", "heads")

    def __init__(self, header: "dict[str, Any]") -> None:
        self.header = header
        self.heads: dict[str, bytes] = {}
        self.ended = False


_context_parent: "contextvars.ContextVar[Parent]" = contextvars.ContextVar("llm_sandbox_parent")
_last = Parent({})


def current() -> Parent:
    """Return the request of this thread or task; the last cell's where it is unknown."""
    return _context_parent.get(_last)


def begin(header: "dict[str, Any]", *, is_cell: bool) -> Parent:
    """Begin a request in this thread, and return it.

    Args:
        header: The header of the request.
        is_cell: Whether it runs code, so that output of unknown origin is attributed to it.
    """
    global _last
    parent = Parent(header)
    if is_cell:
        _last = parent
    _context_parent.set(parent)
    return parent


def end(parent: Parent) -> None:
    """Mark a request as answered."""
    parent.ended = True
    _context_parent.set(_last)


def follow_threads(started: "Callable[[], None]") -> None:
    """Make new threads inherit the parent of the code that starts them, from now on.

    Args:
        started: Called before a thread is started.
    """
    for module, name in [
        *((threading, name) for name in _STARTERS),
        *((_thread, name) for name in ("start_new_thread", "start_new", "start_joinable_thread")),
    ]:
        start = getattr(module, name, None)
        if start is not None:
            setattr(module, name, _inheriting(start, started))


def _inheriting(start: "Callable[..., Any]", started: "Callable[[], None]") -> "Callable[..., Any]":
    @functools.wraps(start)
    def inheriting(function: Any, *args: Any, **options: Any) -> Any:
        if not callable(function):
            return start(function, *args, **options)  # which raises the error
        started()
        _follow_pools()
        # Python 3.14 gives each thread a context; earlier ones start with an empty one.
        own = getattr(getattr(function, "__self__", None), "_context", None)
        context = own if isinstance(own, contextvars.Context) else contextvars.Context()
        context.run(_context_parent.set, current())
        if context is not own:
            function = functools.partial(context.run, function)
        return start(function, *args, **options)

    return inheriting


def _follow_pools() -> None:
    """Make calls in thread pools inherit the parent of the code that submits them."""
    module = sys.modules.get("concurrent.futures.thread")
    item: Any = getattr(module, "_WorkItem", None)
    if item is None or hasattr(item, "llm_sandbox_parent"):
        return
    item.llm_sandbox_parent = None
    make, run = item.__init__, item.run

    @functools.wraps(make)
    def init(self: Any, *args: Any, **options: Any) -> None:
        make(self, *args, **options)
        self.llm_sandbox_parent = current()

    @functools.wraps(run)
    def run_item(self: Any, *args: Any, **options: Any) -> Any:
        parent = self.llm_sandbox_parent
        if parent is not None:
            _context_parent.set(parent)
        return run(self, *args, **options)

    item.__init__, item.run = init, run_item
