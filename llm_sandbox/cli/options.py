"""What the commands that make a sandbox have in common: options, and the session made of them."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from llm_sandbox.cli.endings import usage_error
from llm_sandbox.cli.render import Progress
from llm_sandbox.const import SupportedLanguage, language_name
from llm_sandbox.create import create_session
from llm_sandbox.limits import Limits
from llm_sandbox.network import Network
from llm_sandbox.session.session import BaseSession

if TYPE_CHECKING:
    from llm_sandbox.sandbox.kept.record import OnExit
    from llm_sandbox.security import SecurityPolicy

__all__ = ["MachineOptions", "opened_session"]


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
    whole: bool = False
    """Whether the one thing that is run is a whole program."""

    def limits(self) -> Limits:
        """Return the limits of the sandbox.

        Raises:
            ValidationError: `--memory` is no size.
        """
        if self.memory is None:
            return Limits()
        return Limits(memory_bytes=Limits.parse_size(self.memory, "--memory"))

    def security_policy(self) -> "SecurityPolicy | None":
        """Return the policy of `--policy`, a preset or a file; None without one.

        Raises:
            ValidationError: There is no such preset, or the file describes no policy.
        """
        if self.policy is None:
            return None
        # Loads pydantic, which nothing else here needs.
        from llm_sandbox.security.policy_file import find_policy

        return find_policy(self.policy)

    def variables(self) -> dict[str, str]:
        """Return what `--env` sets."""
        return dict(_variable(entry) for entry in self.env)

    def make_session(
        self,
        *,
        name: str | None = None,
        on_exit: "OnExit" = "destroy",
        idle_timeout: float | None = None,
    ) -> BaseSession:
        """Return the session, not open yet.

        Args:
            name: How it is found; None for one that nobody looks for.
            on_exit: Whether it ends with this command.
            idle_timeout: Seconds without use after which it ends; None for no limit.

        Raises:
            SandboxError: An option is not acceptable, or nothing here isolates.
        """
        return create_session(
            self.backend,
            lang=self.lang,
            limits=self.limits(),
            network=cast(Network, self.network),
            env=self.variables(),
            security_policy=self.security_policy(),
            # Python's whole programs run in its kernel, which captures what they show.
            persistent=not self.whole or language_name(self.lang) == SupportedLanguage.PYTHON,
            name=name,
            on_exit=on_exit,
            idle_timeout=idle_timeout,
        )


@contextlib.contextmanager
def opened_session(machine: MachineOptions) -> Iterator[BaseSession]:
    """Open a session and install its libraries, saying what is waited for; close it at the end."""
    with Progress("starting sandbox"):
        session = machine.make_session()
        session.open()
    try:
        if machine.libraries:
            with Progress(f"installing {', '.join(machine.libraries)}"):
                session.install(list(machine.libraries))
        yield session
    finally:
        session.close()


def _variable(entry: str) -> tuple[str, str]:
    name, equals, value = entry.partition("=")
    if not name or not equals:
        # The entry itself may be a secret that was put in the wrong place.
        usage_error("--env needs a name and a value", "--env KEY=VALUE")
    return name, value
