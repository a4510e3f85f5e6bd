"""Limits and deadlines of sandboxes."""

import functools
import math
import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, TypeAlias, TypedDict, Unpack, cast

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.mounts.size import check_count, parse_size

__all__ = [
    "DEFAULT_TIMEOUT_S",
    "Deadline",
    "LimitOptions",
    "Limits",
    "Size",
    "machine_memory",
    "validate_timeout",
]

_MIB = 1024**2
# Less does not hold a shell beside the supervisor.
_LEAST_MEMORY = 16 * _MIB
_FOLLOWING = ("workdir_bytes", "tmp_bytes", "shm_bytes", "file_size_bytes")


Size: TypeAlias = int | str
"""Bytes, or text such as ``"2g"`` (see `Limits.parse_size`)."""


class LimitOptions(TypedDict, total=False):
    """Keyword arguments of `Limits`: its fields, and each size also without its unit."""

    memory: Size
    workdir: Size
    tmp: Size
    shm: Size
    file_size: Size
    output: Size
    display: Size
    artifact: Size
    memory_requested: Size | None
    memory_bytes: Size
    workdir_bytes: Size
    tmp_bytes: Size
    shm_bytes: Size
    file_size_bytes: Size
    output_bytes: Size
    display_bytes: Size
    artifact_bytes: Size
    memory_requested_bytes: Size | None
    processes: int
    cpus: float | None
    cpu_seconds: float | None
    inodes: int
    open_files: int
    displays: int
    artifacts: int
    cpus_requested: float | None


@dataclass(frozen=True, slots=True, init=False)
class Limits:
    """Limits of one sandbox; every one is enforced or named as not enforced by the backend.

    Sizes are bytes or text, with or without the unit in their name: ``Limits(memory="2g")`` is
    ``Limits(memory_bytes=2 * 1024**3)``. `parse` takes the same names as a mapping.

    Raises:
        ValidationError: A value or the name of a limit is invalid; `parameter` names it.
    """

    memory_bytes: int
    """Memory of all processes together, in bytes; by default a quarter of this machine's, from
    1 to 4 GiB."""
    workdir_bytes: int
    """Size of the working directory, in bytes; by default half of `memory_bytes`, from 256 MiB to
    2 GiB."""
    tmp_bytes: int
    """Size of `/tmp`, in bytes; by default an eighth of `memory_bytes`, from 64 to 512 MiB."""
    shm_bytes: int
    """Size of `/dev/shm`, in bytes; by default as `tmp_bytes`' own."""
    file_size_bytes: int
    """Size of one file, in bytes; by default the larger of `workdir_bytes` and 256 MiB."""
    processes: int = 128
    """Processes and threads alive at once; 128."""
    cpus: float | None = None
    """CPUs that may be busy at once, fractions allowed; None (default) for no limit."""
    cpu_seconds: float | None = None
    """CPU time of one process, in whole seconds, at least one; it gets SIGXCPU then, and SIGKILL a
    second later. None (default) for no limit."""
    inodes: int = 65536
    """Files and directories in each writable place; 65536."""
    open_files: int = 512
    """Open file descriptors of one process; 512."""
    output_bytes: int = 10 * _MIB
    """Maximum kept bytes of each stream of one run; 10 MiB, 0 keeps nothing."""
    display_bytes: int = 32 * _MIB
    """Size of one display (a plot, a table), in bytes; 32 MiB, 0 keeps none."""
    displays: int = 200
    """Displays kept of one run; 200, 0 keeps none."""
    artifact_bytes: int = 32 * _MIB
    """Size of one file that a run created or changed and whose content is kept, in bytes; all of a
    run together may have four times that; 32 MiB, 0 keeps none."""
    artifacts: int = 200
    """Files of one run whose content is kept; 200, 0 keeps none."""
    cpus_requested: float | None = None
    """CPU share under contention, at most `cpus`. None (default) for an equal share."""
    memory_requested_bytes: int | None = None
    """Memory protected from reclaim when the machine runs short, in bytes, at most `memory_bytes`;
    None (default) for none.
    """

    _fractions: ClassVar[frozenset[str]] = frozenset({"cpus", "cpus_requested", "cpu_seconds"})
    # A size of 0 means "no limit" to a tmpfs, so only what the host itself cuts may be 0.
    _may_be_zero: ClassVar[frozenset[str]] = frozenset(
        {"output_bytes", "display_bytes", "displays", "artifact_bytes", "artifacts"}
    )

    def __init__(self, **given: Unpack[LimitOptions]) -> None:
        values = _by_field(given, [item.name for item in fields(self)])
        for item in fields(self):
            if item.name in values or item.default is not MISSING:
                self._set(item.name, values.get(item.name, item.default))
        if "memory_bytes" not in values:
            self._set("memory_bytes", _clamp(machine_memory() // 4, 1024 * _MIB, 4096 * _MIB))
        elif self.memory_bytes < _LEAST_MEMORY:
            raise ValidationError(
                f"invalid memory_bytes: expected at least {_LEAST_MEMORY >> 20} MiB, "
                f"got {self.memory_bytes} bytes",
                parameter="memory_bytes",
                hint='sizes without a unit are bytes: memory="1g"',
            )
        for name in _FOLLOWING:
            if name not in values:
                self._set(name, self._following(name))
        _check_request("cpus", self.cpus_requested, self.cpus)
        _check_request("memory", self.memory_requested_bytes, self.memory_bytes)

    def _set(self, name: str, value: object) -> None:
        if name in self._fractions:
            if value is not None:
                _check_fraction(name, value)
        elif value is not None or name != "memory_requested_bytes":
            check_count(name, value, 0 if name in self._may_be_zero else 1)
        object.__setattr__(self, name, value)

    def _following(self, name: str) -> int:
        """Return the default of a size that follows from another one."""
        if name == "workdir_bytes":
            return _clamp(self.memory_bytes // 2, 256 * _MIB, 2048 * _MIB)
        if name == "file_size_bytes":
            return max(self.workdir_bytes, 256 * _MIB)
        return _clamp(self.memory_bytes // 8, 64 * _MIB, 512 * _MIB)

    def replace(self, **given: Unpack[LimitOptions]) -> "Limits":
        """Return a copy with changed limits.

        Default sizes that depend on others are computed again: with another `memory_bytes`, the
        working directory has another size unless it was given explicitly.

        Args:
            given: As for `Limits`.

        Raises:
            ValidationError: As for `Limits`.
        """
        names = [item.name for item in fields(self)]
        kept = {
            name: getattr(self, name)
            for name in names
            if name not in _FOLLOWING or getattr(self, name) != self._following(name)
        }
        return Limits(**cast(LimitOptions, kept | _by_field(given, names)))

    def updated(self, **given: Unpack[LimitOptions]) -> "Limits":
        """Return a copy with only the named limits changed; see `replace`.

        Args:
            given: As for `Limits`.

        Raises:
            ValidationError: As for `Limits`.
        """
        names = [item.name for item in fields(self)]
        values = {name: getattr(self, name) for name in names} | _by_field(given, names)
        return Limits(**cast(LimitOptions, values))

    def differences(self, other: "Limits") -> frozenset[str]:
        """Return the names of the fields that differ in `other`."""
        names = [item.name for item in fields(self)]
        return frozenset(name for name in names if getattr(self, name) != getattr(other, name))

    @classmethod
    def parse(cls, value: "Limits | Mapping[str, Any] | None", name: str = "limits") -> "Limits":
        """Parse the value of an option `limits=`.

        Args:
            value: Limits, a mapping such as ``{"memory": "2g", "cpus": 1}``; None for the defaults.
            name: Parameter name for errors.

        Raises:
            ValidationError: `value` has the wrong type, or a name or value in it is invalid.
        """
        if value is None:
            return cls()
        if isinstance(value, Limits):
            return value
        if isinstance(value, Mapping):
            return cls(**cast(LimitOptions, dict(value)))
        raise ValidationError(
            f"invalid {name}: expected Limits or a mapping, got {type(value).__name__}",
            parameter=name,
            hint='limits=Limits(memory="2g")',
        )

    @staticmethod
    def parse_size(text: str | int, name: str = "size") -> int:
        """Parse a size in bytes from text like `"512m"`, `"1.5 GiB"` or `"4096"`.

        Units are powers of 1024, with or without `b` and `ib`, in any letter case.

        Args:
            text: Size; an int is in bytes.
            name: Parameter name for errors.

        Raises:
            ValidationError: `text` is not a positive size.
        """
        return parse_size(text, name)


def _by_field(given: Mapping[str, object], known: Sequence[str]) -> dict[str, object]:
    """Return the values by the names of fields, sizes in bytes."""
    values: dict[str, object] = {}
    for name, value in given.items():
        field = f"{name}_bytes" if f"{name}_bytes" in known else name
        if field not in known:
            raise _unknown(name, known)
        if field in values:
            raise ValidationError(
                f"{field} is given twice, as {name} too", parameter=name, hint="give one of them"
            )
        sized = field.endswith("_bytes") and isinstance(value, str)
        values[field] = _size(cast(str, value), name) if sized else value
    return values


def _size(text: str, name: str) -> int:
    return 0 if text.strip() == "0" else parse_size(text, name)


def _unknown(name: str, known: Sequence[str]) -> ValidationError:
    import difflib  # only an error needs it

    names = sorted({*known, *(item.removesuffix("_bytes") for item in known)})
    near = difflib.get_close_matches(name, names, n=1)
    short = [item.removesuffix("_bytes") for item in known]
    return ValidationError(
        f"invalid limit {name!r}: expected one of {', '.join(short)}",
        parameter=name,
        hint=f"did you mean {near[0]}?" if near else None,
    )


def _clamp(value: int, least: int, most: int) -> int:
    return max(least, min(value, most))


@functools.cache
def machine_memory() -> int:
    """Return the memory in bytes available to this process: of the machine or its control group.

    0 if unknown. Sources: `sysconf`, and the files of the memory control group.
    """
    try:
        found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0
    for file in (
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    ):
        try:
            limit = int(Path(file).read_text(encoding="ascii"))
        except (OSError, ValueError):
            continue
        found = min(found, limit)
    return found


def _check_request(what: str, asked: float | None, limit: float | None) -> None:
    if asked is None or limit is None or asked <= limit:
        return
    suffix = "_bytes" if what == "memory" else ""
    raise ValidationError(
        f"{what}_requested{suffix} is {asked}, more than {what}{suffix}, which is {limit}",
        parameter=f"{what}_requested{suffix}",
        hint=f"raise {what}{suffix}, or request less",
    )


def _check_fraction(name: str, value: object) -> None:
    number = not isinstance(value, bool) and isinstance(value, (int, float))
    if not number or not 0 < value < math.inf:  # type: ignore[operator]
        raise ValidationError(f"{name} must be a number above 0, or None", parameter=name)


DEFAULT_TIMEOUT_S = 60.0
"""Default timeout in seconds of runs requested by a model.

Sessions themselves have no default deadline.
"""


def validate_timeout(value: object, name: str = "timeout") -> float | None:
    """Return a timeout in seconds, or None for no limit.

    Args:
        value: A number above 0, or None. Infinity counts as None.
        name: Parameter name for errors.

    Raises:
        ValidationError: `value` is zero, negative, NaN, a bool, no number, or more than the
            operating system can wait for.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise ValidationError(f"{name} must be seconds above 0, or None", parameter=name)
    if value == math.inf:
        return None
    if value > threading.TIMEOUT_MAX:
        raise ValidationError(f"{name} is too long; None means no limit", parameter=name)
    return float(value)


@dataclass(frozen=True, slots=True)
class Deadline:
    """Deadline on the monotonic clock."""

    at: float | None = None
    """`time.monotonic()` of the moment; None (default) for never."""

    @classmethod
    def after(cls, seconds: float | None) -> "Deadline":
        """Return the deadline `seconds` from now; None for no deadline."""
        return cls(None if seconds is None else time.monotonic() + seconds)

    def remaining(self) -> float | None:
        """Return the seconds left, never below 0; None when there is no deadline."""
        return None if self.at is None else max(0.0, self.at - time.monotonic())

    @property
    def expired(self) -> bool:
        """Whether the deadline has passed."""
        return self.at is not None and time.monotonic() >= self.at
