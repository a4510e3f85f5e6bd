"""What the sandboxes of a server are like, which its clients cannot change."""

from dataclasses import dataclass, field

from llm_sandbox.aio import AsyncSession, create_session
from llm_sandbox.backends.base import Network
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.integrations.tool import ToolOptions
from llm_sandbox.limits import Limits
from llm_sandbox.security import SecurityPolicy

__all__ = ["ServerOptions"]


@dataclass(frozen=True)
class ServerOptions:
    """The sandboxes that a server makes for its clients.

    Raises:
        ValidationError: A value is not acceptable.
    """

    backend: str | None = None
    """Where; None for the first that works here."""
    languages: tuple[str, ...] = ("python",)
    """Languages that clients may ask for; the first is the default."""
    network: Network = "blocked"
    """Whether sandboxes have the host's network."""
    limits: Limits = field(default_factory=Limits)
    """What each may use."""
    policy: SecurityPolicy | None = None
    """What code is refused."""
    libraries: tuple[str, ...] = ()
    """Libraries of each sandbox of the first language."""
    installs: bool = True
    """Whether clients may install libraries."""
    sessions: int = 8
    """How many sandboxes there are at once."""
    idle_s: float = 1800.0
    """Seconds after which a sandbox that nobody uses is ended."""
    tool: ToolOptions = field(default_factory=ToolOptions)
    """How much of a result a client is told, and how long a call may take at most."""

    def __post_init__(self) -> None:
        if not self.languages:
            raise ValidationError("a server needs a language", parameter="languages")
        if self.sessions < 1:
            raise ValidationError("a server needs room for a session", parameter="sessions")
        if not self.idle_s > 0:
            raise ValidationError("idle_s must be more than 0", parameter="idle_s")

    def make_session(self, language: str) -> AsyncSession:
        """Return a new session, not open yet.

        Raises:
            ValidationError: Clients may not have that language.
            SandboxError: It cannot be made here.
        """
        if language not in self.languages:
            known = ", ".join(self.languages)
            raise ValidationError(f"this server runs {known}, not {language}", parameter="language")
        return create_session(
            self.backend,
            lang=language,
            network=self.network,
            limits=self.limits,
            security_policy=self.policy,
            libraries=self.libraries if language == self.languages[0] else (),
        )
