"""What a scan of code says, and what was seen while code ran: plain records, light to import."""

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
"""How sure the scanner is that the code does what a finding says."""

SeverityName = Literal["safe", "low", "medium", "high"]
"""How grave a finding is, by the name of a `SecurityIssueSeverity`."""

SEVERITIES: tuple[SeverityName, ...] = get_args(SeverityName)
"""The severities, the least grave first."""


class Capability(StrEnum):
    """What code can do that a policy may refuse; the same words for every language."""

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
    """Asks a cloud's metadata service, which hands out credentials."""
    FILE_SENSITIVE = "file.sensitive"
    """Names files that hold a machine's or a person's secrets."""
    FILE_WRITE = "file.write"
    """Writes files outside of its working directory."""
    FILE_DELETE = "file.delete"
    """Deletes files or directories."""
    FILE_PERMISSION = "file.permission"
    """Changes who may use a file."""
    NATIVE = "native"
    """Reaches native memory or native functions."""
    DESERIALISE = "deserialise"
    """Loads objects whose loading can run code."""
    DYNAMIC_CODE = "dynamic.code"
    """Runs text as code."""
    DYNAMIC_UNRESOLVED = "dynamic.unresolved"
    """Runs, imports or looks up something whose name cannot be known before it runs."""
    MODULE_ESCAPE = "module.escape"
    """Hands a watched module on to where its use cannot be followed."""
    INTROSPECTION = "introspection"
    """Walks the interpreter's own objects."""
    ENVIRONMENT = "environment"
    """Reads or changes environment variables."""
    PERSISTENCE = "persistence"
    """Arranges to be started again later."""
    MINING = "mining"
    """Mines a currency."""
    RESOURCE = "resource"
    """Uses up processes, memory or disk on purpose."""
    PACKAGE_INSTALL = "package.install"
    """Installs packages."""
    HIDDEN_TEXT = "text.hidden"
    """Has characters that make people read something else than what runs."""
    UNPARSED = "text.unparsed"
    """Cannot be read as a program of its language, or is too large to be."""


@dataclass(frozen=True, slots=True)
class Span:
    """A range of text: lines and columns from 1, columns in characters, the end excluded."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that code does, judged by a policy."""

    rule_id: str
    """Stable name: language and capability, such as ``python/process.run``; ``pattern/...`` and
    ``module/...`` for those of the policy itself."""
    category: str
    """A `Capability`, ``pattern`` or ``module``."""
    severity: SeverityName
    """As the policy grades it."""
    confidence: Confidence
    """How sure the scanner is."""
    span: Span
    """Where it is in the code."""
    snippet: str
    """The code there, its first line, at most 200 characters."""
    subject: str
    """What it is about: the resolved name such as ``os.system``, a path, or a pattern."""
    message: str
    """What it does."""
    why: str = ""
    """Why that matters."""
    fix: str = ""
    """What to write instead."""
    cwe: int | None = None
    """Number in the Common Weakness Enumeration; None where none fits."""
    route: tuple[str, ...] = ()
    """How the subject is reached when it is not by its name, outermost first."""
    inner: Span | None = None
    """Where it is within the text that the code evaluates; None outside of such text."""

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
    """Something that a run was seen doing, told by the interpreter inside: a signal, no proof."""

    event: str
    """Name of the interpreter's audit event, such as ``subprocess.Popen``."""
    capability: str
    """The `Capability` that the scanner would have named."""
    subject: str
    """What it was done to: a program, an address, a path; at most 200 characters."""
    count: int = 1
    """How often, in this run."""

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
