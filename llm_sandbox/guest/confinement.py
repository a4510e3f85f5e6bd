"""Confinement of every process that runs a user's code: limits, Landlock, capabilities, seccomp."""

from __future__ import annotations

import binascii
import contextlib
import os
import resource
from collections.abc import Iterable

from . import linux

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Confinement:
    """Limits and rights of a machine's processes, from the host's JSON.

    Attributes:
        rlimits: Soft and hard limit by name without prefix, such as ``{"NOFILE": 1024}``.
        seccomp: The filter program; empty for none.
        read_only: Paths that Landlock allows to read and execute; empty together with `writable`
            for no Landlock.
        writable: Paths below which Landlock allows to change files.
        user: User and group id of the process; None for no change.
        raisable: Names of `rlimits` whose hard limit is not lowered, because something else
            enforces them.
        oom_score: ``oom_score_adj`` of the process, up to 1000; None for no change.
        privileges: Whether capabilities are kept and privileges may be gained: only without any
            isolation.
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.rlimits: dict[str, int] = data.get("rlimits", {})
        self.raisable: list[str] = data.get("raisable", [])
        self.seccomp = binascii.a2b_base64(data.get("seccomp", ""))
        self.read_only: list[str] = data.get("read_only", [])
        self.writable: list[str] = data.get("writable", [])
        user = data.get("user")
        self.user: tuple[int, int] | None = None if user is None else (user[0], user[1])
        self.oom_score: int | None = data.get("oom_score")
        self.privileges: bool = data.get("privileges", False)

    def apply(self, *, serves_host: bool = False) -> None:
        """Confine the calling process for good. Must run after it has joined its namespaces.

        Args:
            serves_host: Whether the process is an agent and not a program: then the user's
                processes cannot signal it, where the supervisor is another user.
        """
        for name, value in self.rlimits.items():
            # SIGXCPU comes first and names the reason; SIGKILL follows a second later.
            hard = value + 1 if name == "CPU" else value
            if name in self.raisable:
                hard = resource.RLIM_INFINITY
            set_limit(getattr(resource, f"RLIMIT_{name}"), value, hard)
        if self.oom_score is not None:
            with open("/proc/self/oom_score_adj", "w") as file:
                file.write(str(self.oom_score))
        if not self.privileges:
            linux.set_no_new_privileges()
            if self.read_only or self.writable:
                linux.restrict_paths(self.read_only, self.writable)
            linux.drop_bounding_set()
        if self.user is not None:
            (linux.act_as_user if serves_host else linux.set_user)(*self.user)
            # After a change of user, the kernel would deny the process its own /proc entries.
            linux.set_dumpable()
        if self.privileges:
            return
        linux.drop_all_capabilities()
        if self.seccomp:
            linux.install_seccomp(self.seccomp)


def set_limit(which: int, soft: int, hard: int) -> None:
    """Set the soft and the hard limit, each at most to the present hard limit."""
    _, most = resource.getrlimit(which)
    if most != resource.RLIM_INFINITY:
        soft = min(soft, most)
        hard = most if hard == resource.RLIM_INFINITY else min(hard, most)
    resource.setrlimit(which, (soft, hard))


def raise_data_limit(more: int, pid: int = 0) -> None:
    """Raise or lower a process's RLIMIT_DATA, as far as is allowed.

    Args:
        more: Bytes to add; negative to lower it.
        pid: The process; 0 for the calling one.
    """
    soft, hard = resource.prlimit(pid, resource.RLIMIT_DATA)
    if soft != resource.RLIM_INFINITY:
        soft = max(0, soft + more)
        soft = soft if hard == resource.RLIM_INFINITY else min(soft, hard)
        resource.prlimit(pid, resource.RLIMIT_DATA, (soft, hard))


def data_bytes() -> int:
    """Return the bytes of this process that RLIMIT_DATA counts."""
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[5]) * resource.getpagesize()


def join_cgroups(fds: Iterable[int]) -> None:
    """Move the calling process into the cgroups whose ``cgroup.procs`` files are open at `fds`.

    The files were opened by the host's root, whose rights count for the write; ``0`` means the
    writer itself.
    """
    for fd in fds:
        os.write(fd, b"0")


def close_all_but(keep_open: Iterable[int]) -> None:
    """Close every descriptor from 3 up that is not in `keep_open`."""
    keep = set(keep_open)
    for name in os.listdir("/proc/self/fd"):
        fd = int(name)
        if fd >= 3 and fd not in keep:
            with contextlib.suppress(OSError):  # the descriptor of `listdir` is closed by now
                os.close(fd)
