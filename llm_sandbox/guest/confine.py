"""The last steps of every process that runs a user's code: limits, then walls, then nothing left to
give up.
"""

import base64
import contextlib
import os
import resource
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from . import linux


@dataclass(frozen=True)
class Confinement:
    """What a machine's processes may use. Comes from the host as JSON."""

    rlimits: dict[str, int] = field(default_factory=dict)
    """Soft and hard limit by name without prefix, such as ``{"NOFILE": 1024}``."""

    seccomp: bytes = b""
    """The filter program; empty for none."""

    read_only: tuple[str, ...] = ()
    """Paths that Landlock lets be read and executed; empty together with `writable` for no
    Landlock."""

    writable: tuple[str, ...] = ()
    """Paths below which Landlock lets files be changed."""

    privileges: bool = False
    """Whether capabilities are kept and privileges may be gained: only where there is no isolation
    at all."""

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Confinement":
        """Build from the host's description."""
        return cls(
            rlimits=data.get("rlimits", {}),
            seccomp=base64.b64decode(data.get("seccomp", "")),
            read_only=tuple(data.get("read_only", ())),
            writable=tuple(data.get("writable", ())),
            privileges=data.get("privileges", False),
        )

    def apply(self) -> None:
        """Confine the calling process for good. Must run after it has joined its namespaces."""
        for name, value in self.rlimits.items():
            set_limit(getattr(resource, f"RLIMIT_{name}"), value)
        if self.privileges:
            return
        linux.set_no_new_privileges()
        if self.read_only or self.writable:
            linux.restrict_paths(list(self.read_only), list(self.writable))
        linux.drop_all_capabilities()
        if self.seccomp:
            linux.install_seccomp(self.seccomp)


def set_limit(which: int, value: int) -> None:
    """Lower the soft and hard limit to `value`, or to the hard limit where that is lower
    already.
    """
    _, hard = resource.getrlimit(which)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(which, (value, value))


def join_cgroups(fds: Iterable[int]) -> None:
    """Move the calling process into the cgroups whose ``cgroup.procs`` files are open at `fds`.

    The files were opened by the host's root, whose rights count for the write; ``0`` means the
    writer itself.
    """
    for fd in fds:
        os.write(fd, b"0")


def close_all_but(kept: Iterable[int]) -> None:
    """Close every descriptor from 3 up that is not in `kept`."""
    lowest = 3
    for fd in sorted(set(kept)):
        if fd >= lowest:
            os.closerange(lowest, fd)
            lowest = fd + 1
    with contextlib.suppress(ValueError):
        os.closerange(lowest, max(lowest + 1, min(os.sysconf("SC_OPEN_MAX"), 1 << 20)))
