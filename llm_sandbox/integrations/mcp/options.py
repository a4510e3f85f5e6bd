"""Options of a server's sandboxes, which clients cannot change."""

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
"""Seconds without use after which a detached session ends."""
_SETTINGS = ("lang", "limits", "network", "env", "mounts", "security_policy")
"""Settings in which an existing detached session must agree with the options."""


@dataclass(frozen=True)
class ServerOptions:
    """Options of the sandboxes that a server creates for its clients.

    Raises:
        ValidationError: A value is invalid.
    """

    backend: str | None = None
    """Backend; None for the first that works."""
    image: str | None = None
    """Image of a container backend, for a server of one language; None for that of the language."""
    languages: tuple[str, ...] = ("python",)
    """Languages that clients may use; the first is the default."""
    network: Network = "blocked"
    """Network of sandboxes: none, by rules, the public internet, or the host's."""
    limits: Limits = field(default_factory=Limits)
    """Limits of each sandbox."""
    policy: SecurityPolicy | None = None
    """Security policy for code."""
    libraries: tuple[str, ...] = ()
    """Libraries in each sandbox of the first language."""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Environment variables in each sandbox."""
    files: tuple[tuple[Path, str], ...] = ()
    """Files and folders of this computer with their paths in every sandbox, copied at creation."""
    mounts: Mapping[str, Mount] = field(default_factory=dict)
    """Mounts of every sandbox, by path."""
    takes_roots: bool = False
    """Whether the roots of a client are mounted read-only below ``/roots``. Only for local clients.
    """
    installs: bool = True
    """Whether clients may install libraries."""
    session: str | None = None
    """Name of a detached session for calls of the first language, created if necessary, which
    outlives the server. Only for a server with one client.
    """
    sessions: int = 8
    """Maximum number of sandboxes."""
    idle_s: float = 1800.0
    """Seconds without use after which a sandbox is ended."""
    tool: ToolOptions = field(default_factory=ToolOptions)
    """Options of answers: their size, and the maximum duration of a call."""

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
        """Check the options, without starting anything.

        Raises:
            SandboxError: An option is invalid, or sandboxes cannot be created.
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
        """Return a new session that is not open yet.

        Args:
            language: Language of the session.
            mounts: Mounts in addition to those of the options.

        Raises:
            ValidationError: The language is not allowed.
            SandboxError: The session cannot be created.
        """
        if language not in self.languages:
            known = ", ".join(self.languages)
            raise ValidationError(f"this server runs {known}, not {language}", parameter="language")
        arguments = self._arguments(language)
        return create_session(**{**arguments, "mounts": {**mounts, **self.mounts}})

    async def make_kept(self) -> AsyncSession:
        """Return the detached session: the existing one, open; otherwise a new one, not open.

        Raises:
            ValidationError: The existing session has other settings.
            SessionBusyError: Another client uses the session.
            SandboxError: The session cannot be created.
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
        """Copy the files into a new session.

        Raises:
            SandboxError: A file could not be copied.
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
