"""Supervisor hosts: the host-side objects of supervisors, and the base of their backends.

A supervisor runs inside (`guest.supervisor`). Its `SupervisorHost` holds the connection to it, the
machines that it made, and the state of its zygote.
"""

import atexit
import contextlib
import os
import socket
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING

from llm_sandbox.backends.base import Backend
from llm_sandbox.backends.connection import Launch, SupervisorConnection
from llm_sandbox.exceptions import SandboxError
from llm_sandbox.guest.control import ControlChannel, Message

if TYPE_CHECKING:
    from llm_sandbox.backends.supervised import SupervisedMachine

__all__ = ["SupervisedBackend", "SupervisorHost"]

_CLOSE_S = 5.0


class SupervisorHost:
    """Connection to one supervisor, with the machines that it made.

    Args:
        launch: Starts the supervisor.
        backend: Name of the backend, for messages.
        zygote_started: Whether the supervisor starts a zygote by itself.
        channel: As for `SupervisorConnection`.
        diagnose: As for `SupervisorConnection`.
        start_s: As for `SupervisorConnection`.

    Raises:
        BackendUnavailableError: The supervisor did not start.
    """

    def __init__(
        self,
        launch: Launch,
        *,
        backend: str,
        zygote_started: bool = False,
        channel: Callable[[socket.socket], ControlChannel] = ControlChannel,
        diagnose: Callable[[], SandboxError | None] = lambda: None,
        start_s: float = 30.0,
    ) -> None:
        self.machines: dict[str, SupervisedMachine] = {}
        """Living machines by id."""
        self.zygote_settled = threading.Event()
        """Set when the zygote has loaded everything, or has ended."""
        self._zygote_loaded = False
        self._zygote_started = zygote_started
        self._zygote_lock = threading.Lock()
        self.connection = SupervisorConnection(
            launch,
            backend=backend,
            on_event=self._on_event,
            channel=channel,
            diagnose=diagnose,
            start_s=start_s,
        )

    def _on_event(self, message: Message) -> None:
        event = message["event"]
        if event == "zygote":
            if message["stage"] == "loaded":
                self._zygote_loaded = True
            if message["stage"] in ("loaded", "ended"):
                self.zygote_settled.set()
        elif event == "ended":
            machine = self.machines.get(message["machine"])
            if machine is not None:
                machine.ended(message["reason"])
        elif event == "gone":
            self.zygote_settled.set()
            for machine in list(self.machines.values()):
                machine.ended(message["reason"])
            self._on_gone()

    def _on_gone(self) -> None:
        """Remove what the supervisor left on this computer."""

    def start_zygote(self) -> None:
        """Start the process that kernels are forked from, unless it was started before."""
        with self._zygote_lock:
            if not self._zygote_started:
                argv, env = self._zygote_command()
                self.connection.request("zygote", argv=argv, env=env)
                self._zygote_started = True

    def _zygote_command(self) -> tuple[list[str], dict[str, str]]:
        """Return the command line and the environment of the zygote."""
        raise NotImplementedError

    def wait_for_zygote(self, timeout_s: float) -> bool:
        """Wait until the zygote has loaded everything; return whether it has."""
        return self.zygote_settled.wait(timeout_s) and self._zygote_loaded


_backends: "weakref.WeakSet[SupervisedBackend]" = weakref.WeakSet()
"""The backends of this process. Weakly: `atexit` and `os.register_at_fork` would keep each, and its
connections, for as long as the process lives."""


class SupervisedBackend(Backend):
    """Base of the backends whose machines have our supervisor.

    It is closed when this process exits, and drops the parent's connections in a forked child. Safe
    to use from several threads.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._hosts: weakref.WeakSet[SupervisorHost] = weakref.WeakSet()
        _backends.add(self)
        # Exit goes in the reverse order: before what the modules of a backend have registered by
        # now.
        atexit.unregister(_close_all)
        atexit.register(_close_all)

    def _after_fork(self) -> None:
        """Drop the parent's connections: a fork that used them would mix up answers."""
        self._lock = threading.RLock()
        self._hosts = weakref.WeakSet()

    def close(self) -> None:
        with self._lock:
            hosts, self._hosts = list(self._hosts), weakref.WeakSet()
        for host in hosts:
            host.connection.close()
        for host in hosts:
            with contextlib.suppress(RuntimeError):
                host.connection.close(wait_s=_CLOSE_S)


def _close_all() -> None:
    for backend in list(_backends):
        backend.close()


def _after_fork() -> None:
    for backend in list(_backends):
        backend._after_fork()


os.register_at_fork(after_in_child=_after_fork)
