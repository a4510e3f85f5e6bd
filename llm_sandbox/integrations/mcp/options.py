"""What the sandboxes of a server are like, which its clients cannot change."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from llm_sandbox.aio import AsyncSession, attach_session, create_session
from llm_sandbox.artifact_session import ArtifactSandboxSession
from llm_sandbox.backends.mounts import find_mounts
from llm_sandbox.const import language_name
from llm_sandbox.exceptions import (
    LibraryInstallationNotSupportedError,
    SandboxNotFoundError,
    ValidationError,
)
from llm_sandbox.integrations.tool import ToolOptions
from llm_sandbox.limits import Limits
from llm_sandbox.mounts import Mount
from llm_sandbox.network import Network
from llm_sandbox.security import SecurityPolicy

__all__ = ["ServerOptions"]

_KEPT_S = 86_400.0
"""Seconds without use after which a session that is kept ends."""
_SETTINGS = ("lang", "limits", "network", "env", "mounts", "security_policy")
"""What a session that is kept has to have as the options say: nobody gets more by its name."""


@dataclass(frozen=True)
class ServerOptions:
    """The sandboxes that a server makes for its clients.

    Raises:
        ValidationError: A value is not acceptable.
    """

    backend: str | None = None
    """Where; None for the first that works here."""
    image: str | None = None
    """Image of a container backend, for a server of one language; None for the language's own."""
    languages: tuple[str, ...] = ("python",)
    """Languages that clients may ask for; the first is the default."""
    network: Network = "blocked"
    """What sandboxes reach: nothing, what rules allow, what is public, or the host's network."""
    limits: Limits = field(default_factory=Limits)
    """What each may use."""
    policy: SecurityPolicy | None = None
    """What code is refused."""
    libraries: tuple[str, ...] = ()
    """Libraries of each sandbox of the first language."""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Environment variables of everything in a sandbox."""
    files: tuple[tuple[Path, str], ...] = ()
    """Files and folders of this computer, each with its place in every sandbox, to be copied when
    it is made."""
    mounts: Mapping[str, Mount] = field(default_factory=dict)
    """What of this computer every sandbox sees as it is, by path inside."""
    takes_roots: bool = False
    """Whether a sandbox sees the folders that its client names as its roots, read-only, below
    ``/roots``. Only for clients on this computer."""
    installs: bool = True
    """Whether clients may install libraries."""
    session: str | None = None
    """Name of a kept session that calls of the first language go on with, and that outlives the
    server; it is made if there is none. Only for a server of one client."""
    sessions: int = 8
    """How many sandboxes there are at once."""
    idle_s: float = 1800.0
    """Seconds after which a sandbox that nobody uses is ended."""
    tool: ToolOptions = field(default_factory=ToolOptions)
    """How much of a result a client is told, and how long a call may take at most."""

    def __post_init__(self) -> None:
        names = tuple(dict.fromkeys(language_name(name) for name in self.languages))
        object.__setattr__(self, "languages", names)
        if not names:
            raise ValidationError("a server needs a language", parameter="languages")
        if self.image is not None and len(names) > 1:
            raise ValidationError(
                f"an image is for one language, and these are {len(names)}",
                parameter="image",
                hint="start a server for each language",
            )
        if self.session is not None and self.takes_roots:
            raise ValidationError(
                "a session that is kept has the folders that it was made with, and no roots",
                parameter="takes_roots",
                hint="name the folders as mounts",
            )
        if self.sessions < 1:
            raise ValidationError("a server needs room for a session", parameter="sessions")
        if not self.idle_s > 0:
            raise ValidationError("idle_s must be more than 0", parameter="idle_s")

    def check(self) -> None:
        """Refuse now what every call would be refused; starts nothing.

        Raises:
            SandboxError: An option is not acceptable, or sandboxes cannot be made here.
        """
        find_mounts(self.mounts)
        for language in self.languages:
            arguments = self._arguments(language)
            if self.session is not None and language == self.languages[0]:
                arguments |= self._keeping()
            handler = ArtifactSandboxSession(**arguments).language_handler
            if arguments["libraries"] and not handler.is_support_library_installation:
                raise LibraryInstallationNotSupportedError(handler.name)
            for library in arguments["libraries"]:
                handler.validate_library(library)

    def make_session(self, language: str, mounts: Mapping[str, Mount]) -> AsyncSession:
        """Return a new session, not open yet.

        Args:
            language: Its language.
            mounts: What it sees beside what the options say.

        Raises:
            ValidationError: Clients may not have that language.
            SandboxError: It cannot be made here.
        """
        if language not in self.languages:
            known = ", ".join(self.languages)
            raise ValidationError(f"this server runs {known}, not {language}", parameter="language")
        arguments = self._arguments(language)
        return create_session(**{**arguments, "mounts": {**mounts, **self.mounts}})

    async def make_kept(self) -> AsyncSession:
        """Return the session that is kept: the one that is there, open; else a new one, not open.

        Raises:
            ValidationError: The one that is there was made with other settings.
            SessionBusyError: Somebody else uses it.
            SandboxError: It cannot be made here.
        """
        name, language = self.session or "", self.languages[0]
        made = create_session(**{**self._arguments(language), **self._keeping()})
        try:
            found = await attach_session(name)
        except SandboxNotFoundError:
            return made
        other = [
            field
            for field in _SETTINGS
            if getattr(made.config, field) != getattr(found.config, field)
        ]
        if other or self.backend not in (None, found.backend):
            await found.detach()
            differs = ", ".join(other) or "backend"
            raise ValidationError(
                f"the session {name} was made with another {differs}",
                parameter="session",
                hint=f"start the server as it was, or end the session: llm-sandbox stop {name}",
            )
        return found

    async def fill(self, session: AsyncSession) -> None:
        """Copy the files into a session that has just been opened.

        Raises:
            SandboxError: One could not be copied.
        """
        for source, place in self.files:
            try:
                await session.sandbox.files.upload(source, place)
            except OSError as error:
                raise ValidationError(
                    f"{source} cannot be read: {error.strerror}", parameter="files"
                ) from error

    def _keeping(self) -> dict[str, Any]:
        return {"name": self.session, "on_exit": "keep", "idle_timeout": _KEPT_S}

    def _arguments(self, language: str) -> dict[str, Any]:
        return {
            "backend": self.backend,
            "image": self.image,
            "lang": language,
            "network": self.network,
            "limits": self.limits,
            "security_policy": self.policy,
            "libraries": self.libraries if language == self.languages[0] else (),
            "env": dict(self.env),
            "mounts": dict(self.mounts),
        }
