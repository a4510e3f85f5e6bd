"""Findings of the scanner and observations of runs: plain records, fast to import."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, Self, get_args

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.exceptions.plain import as_mapping, to_plain

__all__ = [
    "SEVERITIES",
    "Capability",
    "Confidence",
    "Finding",
    "Observation",
    "SeverityName",
    "Span",
]

Confidence = Literal["high", "medium", "low"]
"""Certainty that the code does what a finding states."""

SeverityName = Literal["safe", "low", "medium", "high"]
"""Severity by the name of a `SecurityIssueSeverity`."""

SEVERITIES: tuple[SeverityName, ...] = get_args(SeverityName)
"""Severities, the lowest first."""


class Capability(StrEnum):
    """Capability of code that a policy may refuse; the same names for every language."""

    PROCESS_RUN = "process.run"
    """Starts another program."""
    PROCESS_FORK = "process.fork"
    """Copies its own process, or starts worker processes."""
    PROCESS_SIGNAL = "process.signal"
    """Sends signals to processes."""
    NETWORK_SOCKET = "network.socket"
    """Opens or accepts network connections."""
    NETWORK_WEB = "network.web"
    """Makes web requests."""
    NETWORK_TRANSFER = "network.transfer"
    """Sends mail, or moves files by FTP, SSH and the like."""
    NETWORK_METADATA = "network.metadata"
    """Requests a cloud's metadata service, which issues credentials."""
    FILE_SENSITIVE = "file.sensitive"
    """Names files that hold secrets of a machine or a person."""
    FILE_WRITE = "file.write"
    """Writes files outside the working directory."""
    FILE_DELETE = "file.delete"
    """Deletes files or directories."""
    FILE_PERMISSION = "file.permission"
    """Changes file permissions or ownership."""
    NATIVE = "native"
    """Accesses native memory or native functions."""
    DESERIALISE = "deserialise"
    """Loads objects whose loading can run code."""
    DYNAMIC_CODE = "dynamic.code"
    """Runs text as code."""
    DYNAMIC_UNRESOLVED = "dynamic.unresolved"
    """Runs, imports or looks up a name that cannot be resolved statically."""
    MODULE_ESCAPE = "module.escape"
    """Passes a watched module to where its use cannot be tracked."""
    INTROSPECTION = "introspection"
    """Accesses the interpreter's own objects."""
    ENVIRONMENT = "environment"
    """Reads or changes environment variables."""
    PERSISTENCE = "persistence"
    """Arranges to be started again later."""
    MINING = "mining"
    """Mines cryptocurrency."""
    RESOURCE = "resource"
    """Exhausts processes, memory or disk on purpose."""
    PACKAGE_INSTALL = "package.install"
    """Installs packages."""
    HIDDEN_TEXT = "text.hidden"
    """Has characters that make the displayed code differ from the code that runs."""
    UNPARSED = "text.unparsed"
    """Cannot be parsed as a program of its language, or is too large."""


@dataclass(frozen=True, slots=True)
class Span:
    """Range of text: lines and columns from 1, columns in characters, the end excluded."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding in code, graded by a policy."""

    rule_id: str
    """Stable name: language and capability, such as ``python/process.run``; ``pattern/...`` and
    ``module/...`` for those of the policy itself."""
    category: str
    """A `Capability`, ``pattern`` or ``module``."""
    severity: SeverityName
    """Severity that the policy assigns."""
    confidence: Confidence
    """Certainty of the scanner."""
    span: Span
    """Range in the code."""
    snippet: str
    """Code of the span, its first line, at most 200 characters."""
    subject: str
    """Subject: the resolved name such as ``os.system``, a path, or a pattern."""
    message: str
    """Description of the action."""
    why: str = ""
    """Reason why that matters."""
    fix: str = ""
    """Suggested alternative."""
    cwe: int | None = None
    """Number in the Common Weakness Enumeration; None if none applies."""
    route: tuple[str, ...] = ()
    """Aliases through which the subject is reached if not by its name, outermost first."""
    inner: Span | None = None
    """Range within the text that the code evaluates; None outside such text."""

    @property
    def line(self) -> int:
        """First line."""
        return self.span.line

    @property
    def column(self) -> int:
        """First column."""
        return self.span.column

    @property
    def end_line(self) -> int:
        """Last line."""
        return self.span.end_line

    @property
    def end_column(self) -> int:
        """Column after the last character."""
        return self.span.end_column

    def to_dict(self) -> dict[str, object]:
        """Return the finding as JSON-able data."""
        data = {name: getattr(self, name) for name in self.__dataclass_fields__}
        data["span"] = _span_fields(self.span)
        data["inner"] = None if self.inner is None else _span_fields(self.inner)
        return {name: to_plain(value) for name, value in data.items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Return the finding that `to_dict` described; unknown fields are ignored.

        Raises:
            ValidationError: `data` does not describe a finding.
        """
        given: dict[str, Any] = as_mapping(dict(data))
        try:
            kept = {name: given[name] for name in cls.__dataclass_fields__ if name in given}
            kept["span"] = Span(**kept["span"])
            kept["inner"] = Span(**kept["inner"]) if kept.get("inner") else None
            kept["route"] = tuple(kept.get("route") or ())
            return cls(**kept)
        except (KeyError, TypeError) as error:
            raise ValidationError("the data does not describe a finding") from error


def _span_fields(span: Span) -> dict[str, int]:
    return {name: getattr(span, name) for name in span.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class Observation:
    """Action of a run as the interpreter inside reported it: a claim without proof."""

    event: str
    """Name of the interpreter's audit event, such as ``subprocess.Popen``."""
    capability: str
    """`Capability` that the scanner would have named."""
    subject: str
    """Target of the action: a program, an address, a path; at most 200 characters."""
    count: int = 1
    """Number of occurrences in this run."""

    def to_dict(self) -> dict[str, object]:
        """Return the observation as JSON-able data."""
        return {name: to_plain(getattr(self, name)) for name in self.__dataclass_fields__}

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Return the observation that `to_dict` described; unknown fields are ignored.

        Raises:
            ValidationError: `data` does not describe an observation.
        """
        given: dict[str, Any] = as_mapping(dict(data))
        try:
            return cls(**{name: given[name] for name in cls.__dataclass_fields__ if name in given})
        except TypeError as error:
            raise ValidationError("the data does not describe an observation") from error
