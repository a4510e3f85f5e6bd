"""How much memory a machine uses, where no cgroup of ours holds its limit; and what the kernel did
about a container's own.
"""

import os
from collections.abc import Collection

from .family import process_table

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
