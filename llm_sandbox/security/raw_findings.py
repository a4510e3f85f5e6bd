"""Raw findings: results of an engine, before a policy grades them."""

from dataclasses import dataclass, field
from typing import Literal, Protocol

from llm_sandbox.results.findings import Capability, Confidence, Span
from llm_sandbox.security.source import Source

__all__ = ["Engine", "EngineName", "ModuleUse", "RawFinding", "ScanOutput"]

EngineName = Literal["ast", "tree-sitter", "lexical"]
"""Kind of engine: abstract interpretation, syntax tree, or words."""


@dataclass(frozen=True, slots=True)
class RawFinding:
    """Capability that an engine found in code."""

    capability: Capability
    """Capability of the code."""
    span: Span
    """Position in the code."""
    subject: str
    """Resolved name such as ``os.system``, or the revealing path, host or word."""
    confidence: Confidence = "high"
    """Confidence of the engine."""
    detail: str = ""
    """Additional information, as the rest of a sentence: ``with the command 'ls'``."""
    route: tuple[str, ...] = ()
    """Indirections by which the subject is reached, outermost first: ``("eval",
    "base64.b64decode")``."""
    inner: Span | None = None
    """Position within the text that the code evaluates."""


@dataclass(frozen=True, slots=True)
class ModuleUse:
    """Module (Ruby feature, Go package, C header, ...) that code imports or reaches otherwise."""

    name: str
    """Name in the syntax of the language: ``os.path``, ``child_process``, ``sys/socket.h``."""
    span: Span
    """Position in the code."""
    confidence: Confidence = "high"
    """Confidence of the engine."""
    route: tuple[str, ...] = ()
    """Indirection when the module is not imported: ``("sys.modules",)``."""


@dataclass(slots=True)
class ScanOutput:
    """Output of an engine for one program."""

    engine: EngineName
    """Kind of engine."""
    findings: list[RawFinding] = field(default_factory=list)
    """Raw findings in any order, duplicates allowed."""
    modules: list[ModuleUse] = field(default_factory=list)
    """Modules that the program uses."""
    problem: str = ""
    """Reason why the code does not parse; empty when it does."""
    problem_span: Span | None = None
    """Position of the problem."""
    abandoned: bool = False
    """Whether the scan was abandoned because of `problem`, which makes the rest meaningless."""


class Engine(Protocol):
    """Scanner of programs in one language, which never runs them, never raises and takes linear
    time.
    """

    def __call__(self, source: Source) -> ScanOutput:
        """Scan a program."""
