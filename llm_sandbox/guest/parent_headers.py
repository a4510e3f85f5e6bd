"""The request that output answers: Jupyter's parent header, kept for each thread and each task.

A task has it of the context that it was made in, a thread of the code that started it, and a call
handed to a pool of threads of the code that handed it over, so that what they put out after their
cell has ended is told from what a later cell puts out.
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
        header: Its header.
        heads: The JSON of its stream messages, by stream, once there are some.
        ended: Whether it has been answered, so that what comes now is late.
    """

    __slots__ = ("ended", "header", "heads")

    def __init__(self, header: "dict[str, Any]") -> None:
        self.header = header
        self.heads: dict[str, bytes] = {}
        self.ended = False


_of_context: "contextvars.ContextVar[Parent]" = contextvars.ContextVar("llm_sandbox_parent")
_last = Parent({})


def current() -> Parent:
    """The request that code in this thread or task belongs to; the last one where nobody knows."""
    return _of_context.get(_last)


def begin(header: "dict[str, Any]", *, is_cell: bool) -> Parent:
    """Make a request the one that this thread answers.

    Args:
        header: Its header.
        is_cell: Whether it runs code, so that what nobody can attribute is taken for its output.
    """
    global _last
    parent = Parent(header)
    if is_cell:
        _last = parent
    _of_context.set(parent)
    return parent


def end(parent: Parent) -> None:
    """Say that a request has been answered."""
    parent.ended = True
    _of_context.set(_last)


def follow_threads(started: "Callable[[], None]") -> None:
    """From now on, have threads inherit the parent of the code that starts them.

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
            return start(function, *args, **options)  # which says so
        started()
        _follow_pools()
        # Python 3.14 gives each thread a context; before, a new one is all that it has.
        own = getattr(getattr(function, "__self__", None), "_context", None)
        context = own if isinstance(own, contextvars.Context) else contextvars.Context()
        context.run(_of_context.set, current())
        if context is not own:
            function = functools.partial(context.run, function)
        return start(function, *args, **options)

    return inheriting


def _follow_pools() -> None:
    """Have what is handed to a pool of threads belong to whoever handed it over."""
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
            _of_context.set(parent)
        return run(self, *args, **options)

    item.__init__, item.run = init, run_item
