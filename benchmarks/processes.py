"""Memory and children of processes, from the host's /proc."""

import ctypes
import gc
import os
from pathlib import Path

__all__ = [
    "children",
    "namespace_members",
    "peak_growth_since",
    "private_bytes",
    "reset_peak",
]

_PROC = Path("/proc")


def _pids() -> list[int]:
    return [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdecimal()]


def private_bytes(pid: int) -> int:
    """Return the memory that would be free if the process ended: its private pages, in bytes."""
    text = (_PROC / str(pid) / "smaps_rollup").read_text()
    fields = dict(line.split(":", 1) for line in text.splitlines()[1:])
    return sum(int(fields[name].split()[0]) * 1024 for name in ("Private_Clean", "Private_Dirty"))


def namespace_members(link: str) -> dict[int, str]:
    """Return the processes of a pid namespace, by host pid, with their names.

    Args:
        link: Target of ``/proc/self/ns/pid`` in the namespace.
    """
    members = {}
    for pid in _pids():
        folder = _PROC / str(pid)
        try:
            if str((folder / "ns/pid").readlink()) == link:
                members[pid] = (folder / "comm").read_text().strip()
        except OSError:
            continue  # it has ended, or belongs to someone else
    return members


def reset_peak(pid: int | str = "self") -> int:
    """Start a new peak of a process's resident memory; return the present size, in bytes."""
    if pid == "self":
        gc.collect()
        # What earlier work has freed must not count as present: what comes would reuse it unseen.
        ctypes.CDLL(None).malloc_trim(0)
    (_PROC / str(pid) / "clear_refs").write_text("5")
    return _status(pid, "VmRSS")


def peak_growth_since(before: int, pid: int | str = "self") -> int:
    """Return the growth of resident memory beyond `before` since `reset_peak`, in bytes."""
    return max(0, _status(pid, "VmHWM") - before)


def _status(pid: int | str, name: str) -> int:
    for line in (_PROC / str(pid) / "status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    raise LookupError(name)


def children() -> dict[int, str]:
    """Return live children of this process, by pid, with their command lines."""
    found = {}
    for pid in _pids():
        folder = _PROC / str(pid)
        try:
            stat = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(stat[1]) == os.getpid() and stat[0] != "Z":
                found[pid] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()[:120]
        except OSError:
            continue
    return found
