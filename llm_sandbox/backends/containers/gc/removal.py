"""Removing containers behind the caller's back, but surely.

A container ends by itself when its connection is closed, and the engine then removes it; that
takes the engine a tenth of a second, and up to a minute when it is busy. Whoever closes a session
need not wait for it. One thread looks after what is left, and removes by force what does not go.
"""

import atexit
import contextlib
import os
import threading
import time
from dataclasses import dataclass, field

from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.exceptions import (
    BackendError,
    BackendUnavailableError,
    ContainerGoneError,
    SandboxError,
)

__all__ = ["remove_now", "remove_soon", "wait_until_removed"]

_BY_ITSELF_S = 2.0
_GIVE_UP_S = 120.0
_POLL_S = 0.1
_UNREACHABLE_POLL_S = 2.0
_NOW_S = 30.0
_AT_EXIT_S = 5.0


@dataclass
class _Leaving:
    engine: Engine
    container: str
    image: str | None
    since: float = field(default_factory=time.monotonic)
    again_at: float = 0.0


class _Remover:
    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._leaving: list[_Leaving] = []
        self._thread: threading.Thread | None = None

    def add(self, leaving: _Leaving) -> None:
        with self._condition:
            if any(other.container == leaving.container for other in self._leaving):
                return
            self._leaving.append(leaving)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._work, name="llm-sandbox-remover", daemon=True
                )
                self._thread.start()

    def wait(self, timeout_s: float) -> bool:
        with self._condition:
            return self._condition.wait_for(lambda: not self._leaving, timeout_s)

    def _work(self) -> None:
        while True:
            with self._condition:
                if not self._leaving:
                    self._thread = None
                    self._condition.notify_all()
                    return
                waiting = list(self._leaving)
            time.sleep(_POLL_S)
            now = time.monotonic()
            done = [one for one in waiting if one.again_at <= now and _is_gone(one)]
            with self._condition:
                self._leaving = [leaving for leaving in self._leaving if leaving not in done]


def _is_gone(leaving: _Leaving) -> bool:
    api = leaving.engine.api
    age = time.monotonic() - leaving.since
    try:
        with leaving.engine.errors("inspect"):
            state = api.inspect_container(leaving.container)["State"]
        if age > _BY_ITSELF_S or not state["Running"]:
            _remove(leaving.engine, leaving.container, paused=bool(state.get("Paused")))
    except ContainerGoneError:
        _remove_image(leaving)
        return True
    except BackendUnavailableError:
        leaving.again_at = time.monotonic() + _UNREACHABLE_POLL_S
        return age > _GIVE_UP_S
    except BackendError:
        # Busy with the same removal, or restarting. What stays is found by `llm-sandbox gc`.
        return age > _GIVE_UP_S
    return False


def _remove(engine: Engine, container: str, *, paused: bool) -> None:
    with engine.errors("remove", container):
        if paused:
            # A frozen process cannot be killed.
            with contextlib.suppress(BackendError), engine.errors("unpause", container):
                engine.api.unpause(container)
        engine.api.remove_container(container, v=True, force=True)


def remove_now(engine: Engine, container: str) -> None:
    """Remove a container whatever it does, and return when it is gone.

    Args:
        engine: Where it is.
        container: Its id.

    Raises:
        BackendUnavailableError: The engine does not answer.
        BackendError: It is not gone after 30 seconds; the message has the engine's words.
    """
    deadline = time.monotonic() + _NOW_S
    while True:
        try:
            with engine.errors("inspect", container):
                state = engine.api.inspect_container(container)["State"]
            _remove(engine, container, paused=bool(state.get("Paused")))
        except ContainerGoneError:
            return
        except BackendUnavailableError:
            raise
        except BackendError:
            # It is being removed already, or is just coming to its end.
            if time.monotonic() > deadline:
                raise
        time.sleep(_POLL_S)


def _remove_image(leaving: _Leaving) -> None:
    if leaving.image is not None:
        # One that other containers use, or others were made from, stays.
        with contextlib.suppress(SandboxError), leaving.engine.errors("rmi", leaving.image):
            leaving.engine.api.remove_image(leaving.image)


_remover = _Remover()


def _renew() -> None:
    global _remover
    _remover = _Remover()


os.register_at_fork(after_in_child=_renew)


def remove_soon(engine: Engine, container: str, image: str | None = None) -> None:
    """Have a container removed, and return at once.

    Args:
        engine: Where it is.
        container: Its id.
        image: An image that is removed after it, unless others use it.
    """
    _remover.add(_Leaving(engine, container, image))


def wait_until_removed(timeout_s: float = _AT_EXIT_S) -> bool:
    """Wait until everything that was to be removed is; returns whether that came in time."""
    return _remover.wait(timeout_s)


atexit.register(wait_until_removed)
