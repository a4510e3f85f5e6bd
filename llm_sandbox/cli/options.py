"""What the commands that make a sandbox have in common: options, and the session made of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from llm_sandbox.backends.base import Network
from llm_sandbox.cli.endings import usage_error
from llm_sandbox.cli.render import Progress
from llm_sandbox.create import create_session
from llm_sandbox.limits import Limits
from llm_sandbox.session.session import BaseSession

__all__ = ["MachineOptions", "open_session"]


@dataclass(frozen=True)
class MachineOptions:
    """The sandbox that was asked for, in the words of the command line."""

    lang: str = "python"
    backend: str | None = None
    libraries: Sequence[str] = ()
    network: str = "blocked"
    memory: str | None = None
    policy: str | None = None
    env: Sequence[str] = field(default=(), repr=False)

    def make_session(self) -> BaseSession:
        """Return the session, not open yet.

        Raises:
            SandboxError: An option is not acceptable.
        """
        limits = Limits()
        if self.memory is not None:
            limits = Limits(memory_bytes=Limits.parse_size(self.memory, "--memory"))
        options: dict[str, Any] = {}
        if self.policy is not None:
            from llm_sandbox.security import PolicyPreset, get_security_policy

            options["security_policy"] = get_security_policy(cast(PolicyPreset, self.policy))
        return create_session(
            self.backend,
            lang=self.lang,
            limits=limits,
            network=cast(Network, self.network),
            env=dict(_variable(entry) for entry in self.env),
            **options,
        )


def open_session(session: BaseSession, libraries: Sequence[str]) -> None:
    """Open a session and install its libraries, saying what is waited for."""
    with Progress("starting sandbox"):
        session.open()
    if libraries:
        with Progress(f"installing {', '.join(libraries)}"):
            session.install(list(libraries))


def _variable(entry: str) -> tuple[str, str]:
    name, equals, value = entry.partition("=")
    if not name or not equals:
        # The entry itself may be a secret that was put in the wrong place.
        usage_error("--env needs a name and a value", "--env KEY=VALUE")
    return name, value
