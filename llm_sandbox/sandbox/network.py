"""Network of a sandbox: outgoing connections through a gate, and incoming tunnels."""

import logging
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from llm_sandbox.backends import base
from llm_sandbox.backends.base import Control, Isolation, Machine
from llm_sandbox.exceptions import UnsupportedError, ValidationError
from llm_sandbox.host.paths import system_name
from llm_sandbox.network import Network, NetworkEvent, NetworkRules, rules_of
from llm_sandbox.sandbox.secret_files import inject_certificates
from llm_sandbox.sandbox.tls_tunnel import TlsPort
from llm_sandbox.sandbox.tunnels import Tunnel, Tunnels, check_ports
from llm_sandbox.secrets.plan import Binding

if TYPE_CHECKING:
    from llm_sandbox.egress.gate import Gate

__all__ = ["NetworkControl", "SandboxNetwork", "machine_network"]

logger = logging.getLogger("llm_sandbox")

_BY_PROXY = "; by a proxy for HTTP and TLS: programs that ignore HTTPS_PROXY have no network"
_NOTHING = NetworkRules.allow()
_NO_TUNNELS: Mapping[int, Tunnel] = MappingProxyType({})


def machine_network(network: Network) -> base.Network:
    """Return the network to create the machine with: none, if it gets a gate.

    Raises:
        ValidationError: The network is invalid.
    """
    rules_of(network)
    return "open" if network == "open" else "blocked"


class NetworkControl(Protocol):
    """Control of a sandbox's network, by this process or by a daemon."""

    @property
    def setting(self) -> Network:
        """See `SandboxNetwork`."""

    @property
    def tunnels(self) -> Mapping[int, Tunnel]:
        """See `SandboxNetwork`."""

    def open(
        self,
        network: Network,
        ports: Iterable[int | TlsPort] = (),
        bindings: Sequence[Binding] = (),
    ) -> None:
        """See `SandboxNetwork`."""

    def set(self, network: Network) -> int:
        """See `SandboxNetwork`."""

    def events(self, after: int = 0) -> tuple[NetworkEvent, ...]:
        """See `SandboxNetwork`."""


class SandboxNetwork:
    """Network of a sandbox, for as long as its machine lives.

    Safe to use from several threads.

    Args:
        machine: The sandbox's machine, created with `machine_network`.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._lock = threading.Lock()
        self._setting: Network = machine.spec.network
        self._gate: Gate | None = None
        self._tunnels: Tunnels | None = None
        self._bindings: tuple[Binding, ...] = ()
        self._is_proxy = False
        self._accepted = 0
        self._closing = False

    @property
    def setting(self) -> Network:
        """Current setting: ``blocked``, ``open``, ``internet`` or rules."""
        return self._setting

    @property
    def isolation(self) -> Isolation:
        """Control that enforces the setting."""
        return self._machine.isolation

    def open(
        self,
        network: Network,
        ports: Iterable[int | TlsPort] = (),
        bindings: Sequence[Binding] = (),
    ) -> None:
        """Set up the gate and the tunnels of a new sandbox.

        Args:
            network: The argument of `machine_network`.
            ports: Ports inside.
            bindings: Values that the gate substitutes for placeholders, with all later rules.

        Raises:
            ValidationError: A value is invalid, or there are bindings without rules.
            UnsupportedError: The backend cannot honour a setting.
            BackendUnavailableError: No gate could be put into the sandbox's network.
        """
        isolation = self._machine.isolation
        checked = check_ports(ports, isolation.level, isolation.backend)
        with self._lock:
            if checked:
                self._tunnels = Tunnels(self._machine, checked)
        self._bindings = tuple(bindings)
        if rules_of(network) is not None:
            self.set(network)
        elif bindings:
            raise ValidationError(
                f"placeholders of secrets need a network with rules, not {network!r}",
                parameter="network",
                hint="network='internet', or NetworkRules.allow(domains=[...])",
            )

    # --- out

    def set(self, network: Network) -> int:
        """Change the network of programs at once.

        Args:
            network: ``blocked``, ``internet`` or rules; ``open`` only if it is the current setting.

        Returns:
            Number of connections that were cut because they are no longer allowed.

        Raises:
            ValidationError: The network is invalid.
            UnsupportedError: The backend cannot change the network, or it is or would be that of
                the host.
            BackendUnavailableError: No gate could be put into the sandbox's network.
            ContainerGoneError: The gate has ended, and everything is blocked.
        """
        rules = rules_of(network)
        with self._lock:
            if network == self._setting:
                return 0
            if "open" in (network, self._setting):
                raise UnsupportedError(
                    f"network={network!r}",
                    self._machine.isolation.backend,
                    "whether a sandbox shares the host's network is fixed when it is made",
                    hint="make another sandbox",
                )
            cut = 0
            if self._gate is not None:
                cut = self._gate.update(_NOTHING if rules is None else rules)
            elif rules is not None:
                self._open_gate(rules)
            self._setting = network
            self._report()
        return cut

    def _open_gate(self, rules: NetworkRules) -> None:
        machine = self._machine
        backend = machine.isolation.backend
        state = machine.isolation.state("network")
        if state != "enforced":
            have = "may have" if state == "approximated" else "have"
            raise UnsupportedError(
                "a network with rules",
                backend,
                f"its programs {have} another network already: "
                f"{machine.isolation.controls['network'].by}",
                hint="use the bubblewrap, docker or podman backend",
            )
        if system_name() != "Linux":
            raise UnsupportedError(
                "a network with rules",
                backend,
                "the gate that keeps them stands in the kernel of a Linux host",
                hint="run this on Linux, or use network='blocked'",
            )
        from llm_sandbox.egress.gate import Gate
        from llm_sandbox.egress.netns_sockets import NetnsSockets, open_netns_sockets

        stream = machine.open_proxy()
        if stream is not None:
            self._is_proxy = True
            sockets = NetnsSockets([("proxy", stream.detach())], redirected=True)
        else:
            with machine.process_in_network() as process:
                sockets = open_netns_sockets(process, rules, backend=backend)
        self._gate = Gate.start(sockets, rules, bindings=self._bindings)
        machine.on_end(self._close_gate_soon)
        if self._gate.authority is not None:
            inject_certificates(machine, self._gate.authority, self._gate.trusted)

    def _report(self) -> None:
        """Update the network's control in the isolation report."""
        reached = "nothing"
        if self._setting == "internet":
            reached = "public addresses only"
        elif isinstance(self._setting, NetworkRules):
            reached = "what the rules allow"
        way = _BY_PROXY if self._is_proxy else ""
        control = Control("enforced", f"a gate outside: {reached}{way}")
        isolation = self._machine.isolation
        controls = {**isolation.controls, "network": control}
        self._machine.isolation = replace(isolation, controls=controls)

    def events(self, after: int = 0) -> tuple[NetworkEvent, ...]:
        """Return blocked connection attempts, oldest first; empty without rules.

        Args:
            after: Only those with a greater number.
        """
        return self._gate.events(after) if self._gate is not None else ()

    @property
    def gate_process(self) -> int | None:
        """Process id of the gate; None without one."""
        return self._gate.pid if self._gate is not None else None

    # --- in

    @property
    def tunnels(self) -> Mapping[int, Tunnel]:
        """Tunnels by the port inside."""
        return self._tunnels.by_port if self._tunnels is not None else _NO_TUNNELS

    def was_used(self) -> bool:
        """Return whether a tunnel has a connection, or has had one since the last call."""
        if self._tunnels is None:
            return False
        before, self._accepted = self._accepted, self._tunnels.accepted
        return self._tunnels.open_connections > 0 or self._accepted > before

    # --- end

    def close(self) -> None:
        """Close the gate and the tunnels; may be called twice."""
        if self._tunnels is not None:
            self._tunnels.close()
        self._close_gate_soon()

    def _close_gate_soon(self) -> None:
        gate, closing = self._gate, self._closing
        self._closing = True
        if gate is None or closing:
            return

        def end() -> None:
            gate.events()  # kept for whoever asks after the end
            gate.close()

        threading.Thread(target=end, name="llm-sandbox-gate-end", daemon=True).start()
