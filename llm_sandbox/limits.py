"""What a sandbox may use, and until when."""

import math
import threading
import time
from dataclasses import dataclass, fields
from typing import ClassVar

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.mounts.size import check_count, parse_size

__all__ = ["Deadline", "Limits", "validate_timeout"]

_MIB = 1024**2


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one sandbox; every one is enforced or named as not enforced by the backend.

    Raises:
        ValidationError: a value is not a number of its kind; `parameter` names the field.
    """

    memory_bytes: int = 1024 * _MIB
    """Memory of all processes together, in bytes; 1 GiB."""
    processes: int = 128
    """Processes and threads alive at once; 128."""
    cpus: float | None = None
    """CPUs that may be busy at once, fractions allowed; None (default) for no limit."""
    cpu_seconds: float | None = None
    """CPU time of one process, in whole seconds, at least one; it gets SIGXCPU then, and SIGKILL a
    second later. None (default) for no limit."""
    workdir_bytes: int = 256 * _MIB
    """Size of the working directory, in bytes; 256 MiB."""
    tmp_bytes: int = 64 * _MIB
    """Size of `/tmp`, in bytes; 64 MiB."""
    shm_bytes: int = 64 * _MIB
    """Size of `/dev/shm`, in bytes; 64 MiB."""
    inodes: int = 65536
    """Files and directories in each writable place; 65536."""
    open_files: int = 512
    """Open file descriptors of one process; 512."""
    file_size_bytes: int = 256 * _MIB
    """Size of one file, in bytes; 256 MiB."""
    output_bytes: int = 10 * _MIB
    """What is kept of each stream of one run, in bytes; 10 MiB, 0 keeps nothing."""
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
    """CPUs that it is to have when others want them too, at most `cpus`; a share, which holds where
    all are busy. None (default) for an equal share."""
    memory_requested_bytes: int | None = None
    """Memory that it is left when the machine runs short, in bytes, at most `memory_bytes`; None
    (default) for no such promise."""

    _fractions: ClassVar[frozenset[str]] = frozenset({"cpus", "cpus_requested", "cpu_seconds"})
    # A size of 0 means "no limit" to a tmpfs, so only what the host itself cuts may be 0.
    _may_be_zero: ClassVar[frozenset[str]] = frozenset(
        {"output_bytes", "display_bytes", "displays", "artifact_bytes", "artifacts"}
    )

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name in self._fractions:
                if value is not None:
                    _check_fraction(item.name, value)
            elif value is not None or item.name != "memory_requested_bytes":
                check_count(item.name, value, 0 if item.name in self._may_be_zero else 1)
        _check_request("cpus", self.cpus_requested, self.cpus)
        _check_request("memory", self.memory_requested_bytes, self.memory_bytes)

    @staticmethod
    def parse_size(text: str | int, name: str = "size") -> int:
        """Return a size in bytes from text like `"512m"`, `"1.5 GiB"` or `"4096"`.

        Units are powers of 1024, with or without `b` and `ib`, in any letter case.

        Args:
            text: The size; an int is bytes already.
            name: The parameter to name in an error.

        Raises:
            ValidationError: `text` is not a positive size.
        """
        return parse_size(text, name)


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
"""Seconds that a run may take where a model asks for it and nobody says otherwise.

Sessions themselves have no deadline unless they are given one.
"""


def validate_timeout(value: object, name: str = "timeout") -> float | None:
    """Return a timeout in seconds, or None for no limit.

    Args:
        value: A number above 0, or None. Infinity counts as None.
        name: The parameter to name in an error.

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
    """A moment on the monotonic clock by which something must be done."""

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
        """Whether the moment has passed."""
        return self.at is not None and time.monotonic() >= self.at
