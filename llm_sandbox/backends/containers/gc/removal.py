"""Removal of containers in the background.

A container ends by itself when its connection is closed, and the engine then removes it, which
takes from a tenth of a second to a minute. Closing a session does not wait for that: one thread
watches the containers that are left, and removes those by force that do not end.
"""

import atexit
import contextlib
import logging
import os
import threading
import time
from dataclasses import dataclass, field

from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.exceptions import (
    BackendUnavailableError,
    ContainerGoneError,
    SandboxError,
)

__all__ = ["remove_now", "remove_soon", "wait_until_removed"]

logger = logging.getLogger(__name__)

_BY_ITSELF_S = 2.0
_GIVE_UP_S = 120.0
_POLL_S = 0.1
_UNREACHABLE_POLL_S = 2.0
_NOW_S = 30.0
_AT_EXIT_S = 5.0


@dataclass
class _PendingRemoval:
    engine: Engine
    container: str
    image: str | None
    since: float = field(default_factory=time.monotonic)
    again_at: float = 0.0


class _Remover:
    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._pending: list[_PendingRemoval] = []
        self._thread: threading.Thread | None = None

    def add(self, removal: _PendingRemoval) -> None:
        with self._condition:
            if any(other.container == removal.container for other in self._pending):
                return
            self._pending.append(removal)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._work, name="llm-sandbox-remover", daemon=True
                )
                self._thread.start()

    def wait(self, timeout_s: float) -> bool:
        with self._condition:
            return self._condition.wait_for(lambda: not self._pending, timeout_s)

    def _work(self) -> None:
        while True:
            with self._condition:
                if not self._pending:
                    self._thread = None
                    self._condition.notify_all()
                    return
                waiting = list(self._pending)
            time.sleep(_POLL_S)
            now = time.monotonic()
            done = [one for one in waiting if one.again_at <= now and _is_gone(one)]
            with self._condition:
                self._pending = [removal for removal in self._pending if removal not in done]


def _is_gone(removal: _PendingRemoval) -> bool:
    api = removal.engine.api
    age = time.monotonic() - removal.since
    try:
        with removal.engine.errors("inspect"):
            state = api.inspect_container(removal.container)["State"]
        if age > _BY_ITSELF_S or not state["Running"]:
            _remove(removal.engine, removal.container, paused=bool(state.get("Paused")))
    except ContainerGoneError:
        _remove_image(removal)
        return True
    except BackendUnavailableError:
        removal.again_at = time.monotonic() + _UNREACHABLE_POLL_S
        return age > _GIVE_UP_S
    except SandboxError:
        # Busy with the same removal or with that of the image, or restarting. `llm-sandbox gc`
        # finds what stays.
        return age > _GIVE_UP_S
    except Exception:  # one client's failure must not end the removal of other containers
        logger.warning("removal of container %s failed", removal.container, exc_info=True)
        removal.again_at = time.monotonic() + _UNREACHABLE_POLL_S
        return age > _GIVE_UP_S
    return False


def _remove(engine: Engine, container: str, *, paused: bool) -> None:
    with engine.errors("remove", container):
        if paused:
            # A paused process cannot be killed.
            with contextlib.suppress(SandboxError), engine.errors("unpause", container):
                engine.api.unpause(container)
        engine.api.remove_container(container, v=True, force=True)


def remove_now(engine: Engine, container: str) -> None:
    """Remove a container, whatever it does, and return when it is gone.

    Args:
        engine: The container's engine.
        container: Its id.

    Raises:
        BackendUnavailableError: The engine does not answer.
        SandboxError: It is not gone after 30 seconds; the message has the engine's reason.
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
        except SandboxError:
            # It is being removed already, perhaps with its image, or is just ending.
            if time.monotonic() > deadline:
                raise
        time.sleep(_POLL_S)


def _remove_image(removal: _PendingRemoval) -> None:
    if removal.image is not None:
        # An image that other containers or images use stays.
        with contextlib.suppress(SandboxError), removal.engine.errors("rmi", removal.image):
            removal.engine.api.remove_image(removal.image)


_remover = _Remover()


def _renew() -> None:
    global _remover
    _remover = _Remover()


os.register_at_fork(after_in_child=_renew)


def remove_soon(engine: Engine, container: str, image: str | None = None) -> None:
    """Remove a container in the background, and return at once.

    Args:
        engine: The container's engine.
        container: Its id.
        image: Image that is removed afterwards, unless others use it; None for none.
    """
    _remover.add(_PendingRemoval(engine, container, image))


def wait_until_removed(timeout_s: float = _AT_EXIT_S) -> bool:
    """Wait until no removal is pending; returns whether that came in time."""
    return _remover.wait(timeout_s)


atexit.register(wait_until_removed)
