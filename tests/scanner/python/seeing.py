"""Statements of the Python engine's tests about a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llm_sandbox.security.python.engine import scan
from llm_sandbox.security.source import Source

if TYPE_CHECKING:
    from llm_sandbox.security.raw_findings import RawFinding, ScanOutput

__all__ = ["blocking", "capabilities", "first", "look"]

UNGRAVE = frozenset({"environment", "file.delete", "network.web"})


def look(text: str, notebook: bool | None = False) -> ScanOutput:
    """All that is seen in a program."""
    return scan(Source(text, "python", notebook))


def capabilities(text: str, notebook: bool | None = False) -> set[str]:
    """The capabilities that are seen in a program."""
    return {str(raw.capability) for raw in look(text, notebook).findings}


def blocking(text: str, notebook: bool | None = False) -> set[str]:
    """Those that presets for data science block."""
    return capabilities(text, notebook) - UNGRAVE


def first(text: str, capability: str, notebook: bool | None = False) -> RawFinding:
    """The first finding of a capability."""
    found = [s for s in look(text, notebook).findings if s.capability == capability]
    assert found, (text, look(text, notebook).findings)
    return min(found, key=lambda s: (s.span.line, s.span.column))
