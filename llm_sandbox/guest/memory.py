"""Memory use of machines without a cgroup of ours, and the kernel's counters of enforced limits."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

from .process_tree import process_numbers

_PAGE = os.sysconf("SC_PAGE_SIZE")
_OOM_COUNTS = ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control")
"""Files of the cgroup that a container sees as the root, of version 2 and of version 1."""
_FORK_COUNTS = ("/sys/fs/cgroup/pids.events", "/sys/fs/cgroup/pids/pids.events")


def oom_kills() -> int | None:
    """Return the number of OOM kills in this container; None if the kernel has no count."""
    return _count(_OOM_COUNTS, b"oom_kill")


def oom_kills_of(group: str) -> int:
    """Return the number of OOM kills in a cgroup of either version."""
    return _count((f"{group}/memory.events", f"{group}/memory.oom_control"), b"oom_kill") or 0


def refused_forks() -> int | None:
    """Return how often the limit of processes has refused a fork in this container.

    None if the kernel has no count.
    """
    return _count(_FORK_COUNTS, b"max")


def _count(paths: tuple[str, ...], key: bytes) -> int | None:
    for path in paths:
        try:
            with open(path, "rb") as file:
                for line in file:
                    name, _, count = line.partition(b" ")
                    if name == key:
                        return int(count)
        except OSError:
            continue
    return None


def over_limit(
    limits: Mapping[str, tuple[str | None, int]], apart: Collection[int] = ()
) -> list[str]:
    """Return the machines whose processes together use more memory than their limit.

    gVisor has no proportional sizes, but its kernel is the machine's own: its total counts, files
    in memory included, less the memory of the processes in `apart`.

    The quick sum of resident sizes counts shared pages once for each process; only where it is over
    the limit is the proportional size read, which is exact but slow. The process table is read
    once, whatever the number of machines.

    Args:
        limits: The pid namespace and the limit in bytes of each machine, by name.
        apart: Processes that belong to no machine.
    """
    alone = all(namespace is None for namespace, _ in limits.values())
    if alone and not os.path.exists("/proc/self/smaps_rollup"):
        used = _whole_kernel() - sum(map(_resident, apart))
        return [name for name, (_, limit) in limits.items() if used > limit]
    tables = process_numbers({namespace for namespace, _ in limits.values()})
    over = []
    for name, (namespace, limit) in limits.items():
        pids = tables[namespace]
        if sum(map(_resident, pids)) > limit and sum(map(_proportional, pids)) > limit:
            over.append(name)
    return over


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
