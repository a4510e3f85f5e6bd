"""What a run tried to reach over the network in vain."""

from llm_sandbox.network import Network, NetworkEvent
from llm_sandbox.sandbox.sandbox import Sandbox

__all__ = ["BlockedConnections"]


class BlockedConnections:
    """The attempts of one sandbox from when this is made.

    Args:
        sandbox: The sandbox; None for nobody's.
    """

    def __init__(self, sandbox: Sandbox | None) -> None:
        self._sandbox = sandbox
        before = sandbox.network_events() if sandbox is not None else ()
        self._last = before[-1].number if before else 0

    @property
    def network(self) -> Network:
        """What may be reached."""
        return self._sandbox.network if self._sandbox is not None else "blocked"

    def take(self) -> tuple[NetworkEvent, ...]:
        """What there has been."""
        return self._sandbox.network_events(self._last) if self._sandbox is not None else ()
