"""Machines that outlive every process of this computer, as their own supervisor keeps them.

A backend whose machines can do so has a `Keeper`. What describes such a machine to later clients is
kept inside, and comes back from there; whoever reads it has to prove that it is what was written.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from llm_sandbox.backends.base import Backend, Isolation, MachineSpec, ProcessSpec

__all__ = ["Keeper", "KeptEnd", "KeptLink", "KeptMachine", "Place"]

Place = Mapping[str, str | None]
"""Plain data by which another process finds a machine; without secrets."""


@dataclass(frozen=True)
class KeptEnd:
    """End of a machine, as others can read it afterwards."""

    reason: str
    """As `Machine.end_reason`, or ``idle``, ``exited`` or ``terminated``."""
    exit_code: int
    """Exit code of its entry, or 124 or 137."""


class KeptMachine(Protocol):
    """Members of such a machine beyond those of `Machine`."""

    info: Any
    """Description for the layers above; None until they have set it."""
    network: Any
    lets_go: bool
    name: str | None
    namespace: str
    tags: Mapping[str, str]
    rewrite: Callable[..., None]
    """Called with changed fields of the machine's record: ``tags``, ``ends_at``, ``owner``."""

    @property
    def place(self) -> Place:
        """Place at which others find it."""

    @property
    def is_released(self) -> bool:
        """Whether this handle has disconnected from the living machine."""

    def start_entry(self, spec: ProcessSpec) -> None:
        """Start the program with which the machine ends.

        Raises:
            LaunchError: It did not start.
        """

    def keep(
        self, words: str, tags: Mapping[str, str], *, idle_timeout: float | None, owned: bool
    ) -> None:
        """Let it live on without clients.

        Args:
            words: Description for later clients.
            tags: The tags.
            idle_timeout: Seconds without activity after which it ends; None for never.
            owned: Whether it ends with this client.
        """

    def release(self) -> None:
        """Disconnect from it."""


class KeptLink(Protocol):
    """Connection to a machine that is not known yet."""

    @property
    def words(self) -> str | None:
        """Description that was kept inside; None if it was never kept."""

    def machine(
        self, backend: Backend, machine_id: str, spec: MachineSpec, isolation: Isolation
    ) -> Any:
        """Return the machine, a `Machine` and a `KeptMachine`.

        Args:
            backend: Backend with the options that it was made with.
            machine_id: Its id.
            spec: Its specification.
            isolation: Its report.
        """

    def close(self) -> None:
        """Disconnect."""


class Keeper(Protocol):
    """Maker and finder of such machines."""

    def create(self, spec: MachineSpec, machine_id: str, key: bytes) -> Any:
        """Create a machine, a `Machine` and a `KeptMachine`; it ends with this client until `keep`.

        Args:
            spec: The specification.
            machine_id: Its id.
            key: Secret of 32 bytes, by which its user's clients are known to it.

        Raises:
            As `Backend.create`.
        """

    def connect(self, place: Place, key: bytes) -> KeptLink:
        """Connect to a machine.

        Raises:
            SecurityError: It does not know the key.
            ContainerGoneError: It has ended.
            BackendUnavailableError: It cannot be reached.
        """

    def find_end(self, place: Place) -> KeptEnd | None:
        """Return how a machine has ended; None while it lives.

        Raises:
            BackendError: That cannot be found out.
        """

    def delete(self, place: Place) -> None:
        """Remove the machine, whether it lives or not.

        Raises:
            BackendError: It could not be removed.
        """
