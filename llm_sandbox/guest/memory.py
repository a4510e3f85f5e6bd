"""How much memory a machine uses, for machines whose limit no cgroup holds."""

import os

from .family import process_table

_PAGE = os.sysconf("SC_PAGE_SIZE")


def over_limit(pid_namespace: str | None, limit: int) -> bool:
    """Whether a machine's processes together use more than `limit` bytes.

    The quick sum of resident sizes counts shared pages once a process; only when it is over is the
    proportional size read, which is exact but slow.
    """
    pids = [row.pid for row in process_table(pid_namespace)]
    return sum(map(_resident, pids)) > limit and sum(map(_proportional, pids)) > limit


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
