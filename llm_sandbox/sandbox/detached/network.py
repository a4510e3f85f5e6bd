"""The network of a kept sandbox: its daemon has the gate and the tunnels, and clients ask it."""

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from llm_sandbox.exceptions import ContainerGoneError
from llm_sandbox.network import Network, NetworkEvent
from llm_sandbox.sandbox.network import SandboxNetwork
from llm_sandbox.sandbox.tunnels import Tunnel

if TYPE_CHECKING:
    from llm_sandbox.sandbox.detached.machine import DetachedMachine

__all__ = ["DetachedNetwork", "answer"]


class DetachedNetwork:
    """As `SandboxNetwork`, at a client's end.

    Args:
        machine: The machine as the client sees it.
    """

    def __init__(self, machine: "DetachedMachine") -> None:
        self._machine = machine
        self._setting: Network = machine.spec.network
        self._events: tuple[NetworkEvent, ...] = ()

    @property
    def setting(self) -> Network:
        """See `SandboxNetwork`; of a sandbox that has ended, as it was when last asked for."""
        with contextlib.suppress(ContainerGoneError):
            self._setting, self._machine.isolation = self._machine.ask_network("setting")
        return self._setting

    def set(self, network: Network) -> int:
        """See `SandboxNetwork`."""
        cut: int = self._machine.ask_network("set", network)
        return cut

    def events(self, after: int = 0) -> tuple[NetworkEvent, ...]:
        """See `SandboxNetwork`; of a sandbox that has ended, what was asked for before."""
        with contextlib.suppress(ContainerGoneError):
            self._events = self._machine.ask_network("events")
        return tuple(event for event in self._events if event.number > after)

    @property
    def tunnels(self) -> Mapping[int, Tunnel]:
        """See `SandboxNetwork`."""
        found: Mapping[int, Tunnel] = self._machine.ask_network("tunnels")
        return found

    def close(self) -> None:
        """Nothing: it ends with the sandbox."""


def answer(network: SandboxNetwork, what: str, value: Any) -> object:
    """What a daemon says to a client.

    Args:
        network: The sandbox's.
        what: ``setting``, ``set``, ``events`` or ``tunnels``.
        value: What is set.
    """
    if what == "set":
        return network.set(value)
    if what == "events":
        return network.events()
    if what == "tunnels":
        return dict(network.tunnels)
    return network.setting, network.isolation
