"""How much memory a machine uses, where no cgroup of ours holds its limit; and what the kernel did
about a container's own.
"""

import os
from collections.abc import Collection, Mapping

from .family import process_numbers

_PAGE = os.sysconf("SC_PAGE_SIZE")
_OOM_COUNTS = ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control")
"""Of the control group that a container sees as the root: version 2, version 1."""


def oom_kills() -> int:
    """How often the kernel has killed in this container for want of memory; 0 if it does not
    say.
    """
    for path in _OOM_COUNTS:
        try:
            with open(path, "rb") as file:
                for line in file:
                    name, _, count = line.partition(b" ")
                    if name == b"oom_kill":
                        return int(count)
        except OSError:
            continue
    return 0


def over_limit(
    limits: Mapping[str, tuple[str | None, int]], apart: Collection[int] = ()
) -> list[str]:
    """Tell which machines' processes together use more memory than they may.

    gVisor has no proportional sizes, but its kernel is the machine's own: what it counts, files in
    memory included, is taken, less what the processes in `apart` have.

    The quick sum of resident sizes counts shared pages once a process; only when it is over is the
    proportional size read, which is exact but slow. The process table is read once, however many
    machines there are.

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
