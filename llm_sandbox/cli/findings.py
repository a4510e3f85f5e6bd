"""What `llm-sandbox doctor` has found out."""

from dataclasses import dataclass
from typing import Any

from llm_sandbox.cli.languages import LanguageFinding
from llm_sandbox.cli.settings import SettingsFinding

__all__ = ["BackendFinding", "Findings"]


@dataclass(frozen=True)
class BackendFinding:
    """What was found out about one backend."""

    name: str
    works: bool
    level: str | None = None
    """How strongly it isolates; None when it does not work here."""
    controls: dict[str, dict[str, str]] | None = None
    """By resource: its state, and by what it is held."""
    problem: str | None = None
    hint: str | None = None
    """What to do about the problem, or about a missing image."""
    engine: str | None = None
    """The engine below it with its version and place; None when it needs none, or none answers."""
    image: str | None = None
    """The image that its sessions are made of; None when it has no images."""
    has_image: bool | None = None
    """Whether the engine has that image; None when it has no images."""

    @property
    def isolates(self) -> bool:
        """Whether it works and holds anything back."""
        return self.works and self.level != "none"


@dataclass(frozen=True)
class Findings:
    """What was found out about this machine."""

    version: str
    python: dict[str, str]
    libraries: dict[str, str | None]
    """Version of each library that sessions use; None when it cannot be imported."""
    analysis: dict[str, str | None]
    """Version of each library of the extra ``science``; None when it cannot be imported."""
    bwrap: dict[str, Any]
    backends: list[BackendFinding]
    languages: list[LanguageFinding]
    default_backend: str | None
    """What is used when no backend is named; None when nothing here isolates."""
    default_reason: str
    settings: SettingsFinding
    namesake: str | None
    """Version of the other project with this import name; None when it is not installed."""

    @property
    def healthy(self) -> bool:
        """Whether code can be run here, isolated, by someone who names no backend."""
        chosen = [found for found in self.backends if found.name == self.default_backend]
        return any(finding.isolates for finding in chosen)
