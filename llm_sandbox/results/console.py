"""Results of commands: exit status and streams."""

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from llm_sandbox.const import RunCause
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.exceptions.plain import to_plain
from llm_sandbox.exceptions.running import RESULT_READERS
from llm_sandbox.host.terminal import strip_controls

__all__ = ["SCHEMA", "ConsoleOutput", "ProcessResult", "dump_fields", "load_fields"]

SCHEMA = 1
"""Version of the JSON form of results."""


@dataclass(frozen=True, slots=True)
class ConsoleOutput:
    """Exit status and streams of a command."""

    type: ClassVar[str] = "console"
    """Tag in JSON."""
    exit_code: int = 0
    """Exit status; 0 is success, 128+n is termination by signal n."""
    stderr: str = ""
    """Standard error."""
    stdout: str = ""
    """Standard output."""

    def success(self) -> bool:
        """Return whether the exit status is 0."""
        return self.exit_code == 0

    def text(self) -> str:
        """Return `stdout`.

        Deprecated: read `stdout`.
        """
        warnings.warn("text() is deprecated; read stdout", DeprecationWarning, stacklevel=2)
        return self.stdout

    @property
    def safe_text(self) -> str:
        """Standard output, then standard error, without terminal control sequences."""
        between = "\n" if self.stdout and self.stderr and not self.stdout.endswith("\n") else ""
        return strip_controls(f"{self.stdout}{between}{self.stderr}")

    def __str__(self) -> str:
        return self.safe_text.rstrip("\n") or repr(self)

    def to_dict(self) -> dict[str, object]:
        """Return the output as JSON-able data; `from_dict` restores it."""
        return dump_fields(self, ConsoleOutput.__match_args__)

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Return the output that `to_dict` described; unknown fields are ignored.

        Raises:
            ValidationError: `data` is of another schema or of another type.
        """
        return cls(**load_fields(cls, data))

    def to_json(self, indent: int | None = None) -> str:
        """Return the output as strict JSON text; see `to_dict`."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return what `to_json` wrote.

        Raises:
            ValidationError: `text` is not JSON of this schema.
        """
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValidationError("the text is not JSON") from error
        if not isinstance(data, dict):
            raise ValidationError("the JSON text does not describe a result")
        return cls.from_dict(data)


@dataclass(frozen=True, slots=True)
class ProcessResult(ConsoleOutput):
    """Result of a process."""

    type: ClassVar[str] = "process"
    """Tag in JSON."""
    command: tuple[str, ...] = ()
    """Command and arguments."""
    signal: int | None = None
    """Signal that ended the process; None if none did."""
    timed_out: bool = False
    """Whether the deadline ended the process."""
    oom_killed: bool = False
    """Whether the memory limit ended the process."""
    stdout_truncated: bool = False
    """Whether standard output was longer than the kept part."""
    stderr_truncated: bool = False
    """Whether standard error was longer than the kept part."""
    dropped_bytes: int = 0
    """Number of bytes of both streams that were not kept."""
    duration_s: float = 0.0
    """Time from start to end, in seconds, on the host's clock."""
    cause: RunCause | None = None
    """Cause of the end; None if it ended by itself with exit status 0, or has not ended."""
    cpu_s: float | None = None
    """CPU time of the process and the children it waited for, in seconds; None when unknown."""
    peak_memory_bytes: int | None = None
    """Largest resident size of one of these processes, in bytes; None when unknown."""

    def to_dict(self) -> dict[str, object]:
        """Return the result as JSON-able data; `from_dict` restores it."""
        return dump_fields(self, ProcessResult.__match_args__)

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Return the result that `to_dict` described; unknown fields are ignored.

        Raises:
            ValidationError: `data` is of another schema or of another type.
        """
        given = load_fields(cls, data)
        given["command"] = tuple(given.get("command", ()))
        try:
            given["cause"] = None if given.get("cause") is None else RunCause(given["cause"])
        except ValueError as error:
            raise ValidationError("the data does not describe a result") from error
        return cls(**given)


RESULT_READERS[ProcessResult.type] = ProcessResult.from_dict


def dump_fields(output: ConsoleOutput, names: tuple[str, ...]) -> dict[str, object]:
    """Return the plain fields of an output as tagged JSON-able data."""
    data: dict[str, object] = {"schema": SCHEMA, "type": output.type}
    special = {"plots", "outputs", "artifacts", "error", "usage"}
    data.update({n: to_plain(getattr(output, n)) for n in names if n not in special})
    return data


def load_fields(cls: type[ConsoleOutput], data: Mapping[str, object]) -> dict[str, Any]:
    """Return the known fields of tagged data.

    Raises:
        ValidationError: The data is of another schema or of another type.
    """
    if data.get("schema") != SCHEMA:
        raise ValidationError(
            f"this version reads results of schema {SCHEMA} only", parameter="schema"
        )
    if data.get("type") != cls.type:
        raise ValidationError(f"the data is not of type {cls.type!r}", parameter="type")
    return {name: data[name] for name in cls.__match_args__ if name in data}
