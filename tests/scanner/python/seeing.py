"""Statements of the Python engine's tests about a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llm_sandbox.security.python.engine import sight
from llm_sandbox.security.source import Source

if TYPE_CHECKING:
    from llm_sandbox.security.sightings import Sighting, Sightings

__all__ = ["blocking", "capabilities", "first", "look"]

UNGRAVE = frozenset({"environment", "file.delete", "network.web"})


def look(text: str, notebook: bool | None = False) -> Sightings:
    """All that is seen in a program."""
    return sight(Source(text, "python", notebook))


def capabilities(text: str, notebook: bool | None = False) -> set[str]:
    """The capabilities that are seen in a program."""
    return {str(sighting.capability) for sighting in look(text, notebook).seen}


def blocking(text: str, notebook: bool | None = False) -> set[str]:
    """Those that presets for data science block."""
    return capabilities(text, notebook) - UNGRAVE


def first(text: str, capability: str, notebook: bool | None = False) -> Sighting:
    """The first sighting of a capability."""
    found = [s for s in look(text, notebook).seen if s.capability == capability]
    assert found, (text, look(text, notebook).seen)
    return min(found, key=lambda s: (s.span.line, s.span.column))
