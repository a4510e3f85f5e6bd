"""What a sandbox has of its network: the ways out, the tunnels in, and what was tried in vain."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from llm_sandbox.backends.base import Machine
from llm_sandbox.network import Network, NetworkEvent
from llm_sandbox.sandbox.facts import SandboxFacts
from llm_sandbox.sandbox.network import SandboxNetwork
from llm_sandbox.sandbox.secret_files import inject_secrets
from llm_sandbox.sandbox.tls_tunnel import TlsPort
from llm_sandbox.sandbox.tunnels import Tunnel
from llm_sandbox.secrets.plan import SecretPlan
from llm_sandbox.secrets.secret import Secret

if TYPE_CHECKING:
    from llm_sandbox.sandbox.detached.machine import DetachedNetwork

__all__ = ["SandboxNetworking"]


class SandboxNetworking(SandboxFacts):
    """The part of `Sandbox` that is about its network."""

    def __init__(
        self,
        machine: Machine,
        env: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | Sequence[Secret] | SecretPlan | None = None,
    ) -> None:
        super().__init__(machine, env, secrets)
        kept: DetachedNetwork | None = getattr(machine, "network", None)
        self._network = kept or SandboxNetwork(machine)

    def _open_network(self, network: Network, ports: Sequence[int | TlsPort]) -> None:
        """Give a new sandbox of this process its way out and its tunnels, or destroy it."""
        try:
            if isinstance(self._network, SandboxNetwork):
                self._network.open(network, ports, self._secrets.bindings)
                inject_secrets(self._machine, self._secrets)
        except BaseException:
            self._machine.destroy()
            raise

    @property
    def network(self) -> Network:
        """What it may reach, as was asked for last."""
        return self._network.setting

    def set_network(self, network: Network) -> int:
        """Change what its programs may reach, at once.

        Args:
            network: ``blocked``, ``internet``, or `NetworkRules`. Whether it is ``open`` is fixed
                when it is made.

        Returns:
            How many connections were cut, as they are not allowed any longer.

        Raises:
            ValidationError: It is none of these.
            UnsupportedError: The backend cannot, or it is about ``open``.
            BackendUnavailableError: No gate could be put into its network.
            ContainerGoneError: The gate has ended, and everything is closed.
        """
        self._check_open()
        return self._network.set(network)

    def network_events(self, after: int = 0) -> tuple[NetworkEvent, ...]:
        """What its programs tried to reach in vain, oldest first; the last 1000 kinds of attempts.

        There are none without rules, as nobody looks: what is tried then fails inside.

        Args:
            after: Only those with a greater `NetworkEvent.number`.
        """
        return self._network.events(after)

    def tunnels(self) -> Mapping[int, Tunnel]:
        """Where its ``ports`` are reached from this machine: port inside to tunnel.

        They work whatever its network is. Any program of this machine can connect; what connects
        while nothing listens inside is hung up on.
        """
        self._check_open()
        return self._network.tunnels
