"""How much memory a machine uses, where no cgroup of ours holds its limit; and what the kernel did
about a container's own limits.
"""

from __future__ import annotations

import os
from collections.abc import Collection

from .family import process_table

_PAGE = os.sysconf("SC_PAGE_SIZE")
_OOM_COUNTS = ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control")
"""Of the control group that a container sees as the root: version 2, version 1."""
_FORK_COUNTS = ("/sys/fs/cgroup/pids.events", "/sys/fs/cgroup/pids/pids.events")


def oom_kills() -> int | None:
    """How often the kernel has killed in this container for want of memory; None if it does not
    say.
    """
    return _count(_OOM_COUNTS, b"oom_kill")


def refused_forks() -> int | None:
    """How often the kernel has refused a process or thread in this container because of its limit
    on them; None if it does not say.
    """
    return _count(_FORK_COUNTS, b"max")


def _count(paths: tuple[str, ...], wanted: bytes) -> int | None:
    for path in paths:
        try:
            with open(path, "rb") as file:
                for line in file:
                    name, _, count = line.partition(b" ")
                    if name == wanted:
                        return int(count)
        except OSError:
            continue
    return None


def over_limit(pid_namespace: str | None, limit: int, apart: Collection[int] = ()) -> bool:
    """Whether a machine's processes together use more than `limit` bytes.

    gVisor has no proportional sizes, but its kernel is the machine's own: what it counts, files in
    memory included, is taken, less what the processes in `apart` have.

    The quick sum of resident sizes counts shared pages once a process; only when it is over is the
    proportional size read, which is exact but slow.
    """
    if pid_namespace is None and not os.path.exists("/proc/self/smaps_rollup"):
        return _whole_kernel() - sum(map(_resident, apart)) > limit
    pids = [row.pid for row in process_table(pid_namespace)]
    return sum(map(_resident, pids)) > limit and sum(map(_proportional, pids)) > limit


def _whole_kernel() -> int:
    with open("/proc/meminfo", "rb") as file:
        for line in file:
            if line.startswith(b"AnonPages:"):
                return int(line.split()[1]) * 1024
    return 0


def _resident(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def _proportional(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            for line in file:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except (OSError, IndexError):
        pass
    return 0
