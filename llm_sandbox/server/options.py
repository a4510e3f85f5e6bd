"""Options of the server: what its operator allows."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from llm_sandbox.const import SandboxBackend
from llm_sandbox.exceptions import UnsupportedError, ValidationError
from llm_sandbox.language_handlers import registry
from llm_sandbox.limits import Limits

__all__ = ["TEMPLATES", "Quotas", "ServerOptions", "Template"]

_DOMAIN = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")


@dataclass(frozen=True)
class Template:
    """Template: what a sandbox is created from, by a name that clients use."""

    lang: str = "python"
    """Language of the default interpreter."""
    image: str | None = None
    """Image of a container backend; None for the language's own."""


TEMPLATES: Mapping[str, Template] = {"base": Template(), "code-interpreter-v1": Template()}
"""Templates that every server has: E2B's names for its own."""


@dataclass(frozen=True)
class Quotas:
    """Quotas of each tenant."""

    sandboxes: int = 20
    """Most living sandboxes."""
    creations_per_minute: int = 600
    """Most sandboxes created within a minute."""
    programs: int = 8
    """Most programs that run at once for the APIs without sandboxes, SandboxFusion and Piston."""
    waiting: int = 64
    """Most requests that wait for their turn to run such a program."""
    evaluations: int = 2
    """Most evaluations that run at once, each of which uses all CPUs."""

    def __post_init__(self) -> None:
        for name in ("sandboxes", "creations_per_minute", "programs", "waiting", "evaluations"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ValidationError(
                    f"invalid {name}: expected a number from 0, got {value!r}", parameter=name
                )


@dataclass(frozen=True)
class ServerOptions:
    """Options of the server.

    Raises:
        ValidationError: A value is invalid.
        UnsupportedError: The backend isolates nothing.
    """

    backend: str | None = None
    """Backend of all sandboxes; None picks the strongest that works."""
    limits: Limits = field(default_factory=lambda: Limits(artifacts=0, output="64m"))
    """Limits of each sandbox."""
    network: Literal["blocked", "internet"] = "blocked"
    """The most that a client may open: nothing, or the public internet."""
    templates: Mapping[str, Template] = field(default_factory=dict)
    """Further templates by name; they win over `TEMPLATES`."""
    timeout_s: float = 300.0
    """Seconds until a sandbox ends for which its client names none."""
    longest_s: float = 86_400.0
    """The longest timeout that a client may set, in seconds."""
    longest_program_s: float = 3600.0
    """The longest that a program of the APIs without sandboxes may take by the clock, in seconds: a
    test of an evaluation, a program of SandboxFusion or Piston, and their compilation."""
    domain: str | None = None
    """Domain below which each port of a sandbox has a name, ``PORT-ID.DOMAIN``; None for none."""
    quotas: Quotas = field(default_factory=Quotas)
    """Quotas of each tenant."""
    body_bytes: int = 10 << 20
    """Largest body of a request that carries no file."""
    file_bytes: int = 1 << 30
    """Largest uploaded file."""
    drain_s: float = 10.0
    """Seconds that running code gets when the server ends."""
    keep: str | os.PathLike[str] | None = None
    """Folder for sandboxes that outlive the server, and are found by the next one with the same
    folder; None ends them with it."""

    def __post_init__(self) -> None:
        if self.backend == SandboxBackend.LOCAL:
            raise UnsupportedError(
                "serving the local backend",
                self.backend,
                "it isolates nothing, and clients would run code as this user",
            )
        if self.network not in ("blocked", "internet"):
            raise ValidationError(
                f"invalid network: expected 'blocked' or 'internet', got {self.network!r}",
                parameter="network",
            )
        if self.domain is not None and not _DOMAIN.fullmatch(self.domain):
            raise ValidationError(
                f"invalid domain: expected a name such as sandbox.example.org, got {self.domain!r}",
                parameter="domain",
            )
        for template in self.templates.values():
            registry.load(template.lang)
        names = ("timeout_s", "longest_s", "longest_program_s", "drain_s")
        for name in (*names, "body_bytes", "file_bytes"):
            if not getattr(self, name) > 0:
                raise ValidationError(
                    f"invalid {name}: expected a positive number, got {getattr(self, name)!r}",
                    parameter=name,
                )

    def template(self, name: str) -> Template | None:
        """Return a template by its name, or a language's own; None if there is none."""
        found = self.templates.get(name) or TEMPLATES.get(name)
        if found is None and registry.is_available(name):
            return Template(name)
        return found

    @property
    def template_names(self) -> list[str]:
        """Names of all templates, sorted."""
        return sorted(TEMPLATES.keys() | self.templates.keys())
