"""The backends of this process: each is closed at its exit, and told of a fork.

They are held weakly: `atexit` and `os.register_at_fork` would keep every backend, and the
connections that it has to its engine, for as long as the process lives.
"""

import atexit
import os
import weakref
from typing import Protocol

__all__ = ["register"]


class _Registered(Protocol):
    def close(self) -> None: ...

    def _forget(self) -> None: ...


_backends: "weakref.WeakSet[_Registered]" = weakref.WeakSet()


def register(backend: _Registered) -> None:
    """Have a backend closed when this process exits, and its `_forget` called in a forked child."""
    _backends.add(backend)
    # Exit goes in the reverse order: before what the modules of a backend have registered by now.
    atexit.unregister(_close_all)
    atexit.register(_close_all)


def _close_all() -> None:
    for backend in list(_backends):
        backend.close()


def _forget_all() -> None:
    for backend in list(_backends):
        backend._forget()


os.register_at_fork(after_in_child=_forget_all)
