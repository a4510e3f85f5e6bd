"""What an engine sees in code, before a policy says how grave that is."""

from dataclasses import dataclass, field
from typing import Literal, Protocol

from llm_sandbox.results.findings import Capability, Confidence, Span
from llm_sandbox.security.source import Source

__all__ = ["Engine", "EngineName", "ModuleUse", "RawFinding", "ScanOutput"]

EngineName = Literal["ast", "tree-sitter", "lexical"]
"""How code was read: as a program, by a syntax tree, or as a row of words."""


@dataclass(frozen=True, slots=True)
class RawFinding:
    """One thing that code does."""

    capability: Capability
    """What it is able to do by it."""
    span: Span
    """Where."""
    subject: str
    """The resolved name such as ``os.system``, or the path, host or word that gives it away."""
    confidence: Confidence = "high"
    """How sure this is."""
    detail: str = ""
    """What more is known, as the rest of a sentence: ``with the command 'ls'``."""
    route: tuple[str, ...] = ()
    """How the subject is reached when it is not by its name, outermost first:
    ``("eval", "base64.b64decode")``."""
    inner: Span | None = None
    """Where it is within the text that the code evaluates."""


@dataclass(frozen=True, slots=True)
class ModuleUse:
    """A module (Ruby's feature, Go's package, C's header, ...) that code comes by."""

    name: str
    """Its name in the language's own words: ``os.path``, ``child_process``, ``sys/socket.h``."""
    span: Span
    """Where."""
    confidence: Confidence = "high"
    """How sure this is."""
    route: tuple[str, ...] = ()
    """How, when it is not by an import: ``("sys.modules",)``."""


@dataclass(slots=True)
class ScanOutput:
    """All that an engine saw."""

    engine: EngineName
    """How the code was read."""
    findings: list[RawFinding] = field(default_factory=list)
    """What it does, in any order, repetitions allowed."""
    modules: list[ModuleUse] = field(default_factory=list)
    """The modules that it comes by."""
    problem: str = ""
    """Why the code could not be read as a program; empty when it could."""
    problem_span: Span | None = None
    """Where that is."""
    abandoned: bool = False
    """Whether reading was given up, for `problem`: the rest is worth nothing then."""


class Engine(Protocol):
    """Reads programs of one language. Never runs them, never raises, ends in linear time."""

    def __call__(self, source: Source) -> ScanOutput:
        """Return what the code does."""
