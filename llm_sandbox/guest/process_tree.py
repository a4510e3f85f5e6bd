"""Process trees: everything that a process started, found and killed wherever it went.

`setsid` leaves a process group and a double fork leaves the parent, so a tree is found by four
signs: descent, process group, session, and a marker in the environment that every descendant
inherits. The process table is read from outside the machine, where its processes cannot interfere.
"""

import contextlib
import os
import signal
from collections.abc import Callable, Collection, Mapping

from . import linux

MARKER = "LLM_SANDBOX_PROCESS"
"""Environment variable whose value names the started process; all its descendants carry it."""

_PASSES = 40


class ProcessRow:
    """One row of the process table.

    Attributes:
        started: Start time in clock ticks; differs from that of a later process with the same pid.
    """

    __slots__ = ("group", "parent", "pid", "session", "started")

    def __init__(self, pid: int, parent: int, group: int, session: int, started: int) -> None:
        self.pid, self.parent, self.group = pid, parent, group
        self.session, self.started = session, started


def process_numbers(pid_namespaces: Collection[str | None]) -> dict[str | None, list[int]]:
    """Return the pids in each pid namespace, zombies included.

    Args:
        pid_namespaces: ``pid:[...]`` links; None stands for every process that is visible here.
    """
    found: dict[str | None, list[int]] = {namespace: [] for namespace in pid_namespaces}
    is_read = any(namespace is not None for namespace in found)
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        if None in found:
            found[None].append(int(name))
        if not is_read:
            continue
        with contextlib.suppress(OSError):
            namespace = os.readlink(f"/proc/{name}/ns/pid")
            if namespace in found:
                found[namespace].append(int(name))
    return found


def process_table(pid_namespace: str | None) -> list[ProcessRow]:
    """Return every living process of a pid namespace.

    Args:
        pid_namespace: Its ``pid:[...]`` link; None for the namespace of the caller.
    """
    rows = []
    for pid in process_numbers([pid_namespace])[pid_namespace]:
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                # The name in parentheses may hold spaces and parentheses of its own.
                words = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        if words and words[0] not in (b"Z", b"X"):
            parent, group, session, started = map(int, (*words[1:4], words[19]))
            rows.append(ProcessRow(pid, parent, group, session, started))
    return rows


def environment_marker(pid: int) -> str | None:
    """Return the marker in the environment of a process, None without one."""
    path = f"/proc/{pid}/environ"
    try:
        try:
            with open(path, "rb") as file:
                text = file.read()
        except PermissionError:
            # A supervisor with few capabilities reads another user's files only as that user.
            with linux.file_user(os.stat(path).st_uid), open(path, "rb") as file:
                text = file.read()
    except OSError:
        return None
    prefix = MARKER.encode() + b"="
    for entry in text.split(b"\0"):
        if entry.startswith(prefix):
            return entry[len(prefix) :].decode("utf-8", "replace")
    return None


def process_tree(
    root: int,
    marker: str,
    rows: list[ProcessRow],
    *,
    adopter: int | None = None,
    exempt: Collection[int] = (),
) -> set[int]:
    """Return the pids of a process tree.

    Args:
        root: The first process; it may have ended already.
        marker: Its marker.
        rows: The process table.
        adopter: If given, children of this pid without another marker are included: the orphans
            of a forked interpreter have no marker.
        exempt: Processes that are excluded with their descendants.
    """
    members = {root}
    while True:
        found = {
            row.pid
            for row in rows
            if row.pid not in members
            and row.pid not in exempt
            and (row.parent in members or row.group in members or row.session in members)
        }
        if not found:
            break
        members |= found
    for row in rows:
        if row.pid in members or row.pid in exempt:
            continue
        mark = environment_marker(row.pid)
        if mark == marker or (mark is None and row.parent == adopter):
            members.add(row.pid)
    return members & {row.pid for row in rows}


def children(pid: int) -> set[int]:
    """Return the living children of a process."""
    return {row.pid for row in process_table(None) if row.parent == pid}


def kill_tree(
    root: int,
    marker: str,
    *,
    pid_namespace: str | None = None,
    adopter: int | None = None,
    exempt: Collection[int] = (),
    keep_root: bool = False,
) -> bool:
    """Kill a process tree; see `process_tree`.

    Args:
        root: The first process.
        marker: Its marker.
        pid_namespace: Where to look, as in `process_table`.
        adopter: As in `process_tree`.
        exempt: As in `process_tree`.
        keep_root: Whether the first process itself stays.

    Returns:
        False if new processes appeared faster than they could be stopped.
    """

    def find() -> list[ProcessRow]:
        rows = process_table(pid_namespace)
        members = process_tree(root, marker, rows, adopter=adopter, exempt=exempt)
        return [row for row in rows if row.pid in members and not (keep_root and row.pid == root)]

    return _kill_all(find)


def kill_descendants(root: int, *, exempt: Collection[int] = ()) -> bool:
    """Kill the descendants of `root`, a subreaper, but for the `exempt`; see `kill_tree`."""

    def find() -> list[ProcessRow]:
        rows = process_table(None)
        members = {root}
        while found := {r.pid for r in rows if r.parent in members} - members:
            members |= found
        return [row for row in rows if row.pid in members and row.pid not in (root, *exempt)]

    return _kill_all(find)


def kill_strays(
    running: Mapping[int, str], alone: Collection[int], pid_namespace: str | None, below: int | None
) -> bool:
    """Kill the processes that belong to no running one; see `kill_tree`.

    Args:
        running: Pid to marker of processes that stay with their trees.
        alone: Processes that stay without their trees.
        pid_namespace: Where to look, as in `process_table`.
        below: Kill only descendants of this process.
    """

    def find() -> list[ProcessRow]:
        rows = process_table(pid_namespace)
        if below is not None:
            inside = {below}
            while found := {r.pid for r in rows if r.parent in inside} - inside:
                inside |= found
            rows = [row for row in rows if row.pid in inside]
        kept = set(alone)
        for pid, marker in running.items():
            kept |= process_tree(pid, marker, rows, exempt=alone) | {pid}
        return [row for row in rows if row.pid not in kept]

    return _kill_all(find)


def _kill_all(find: Callable[[], list[ProcessRow]]) -> bool:
    """Kill all processes that `find` returns; return False if it kept returning new ones.

    They are stopped first and killed together: a process that is killed alone makes room for
    another, which a fork bomb would fill for ever, while stopped ones keep their slots.
    """
    stopped: set[tuple[int, int]] = set()
    for _ in range(_PASSES):
        found = [row for row in find() if (row.pid, row.started) not in stopped]
        if not found:
            break
        for row in found:
            stopped.add((row.pid, row.started))
            _signal(row.pid, signal.SIGSTOP)
    for pid, _ in stopped:
        _signal(pid, signal.SIGKILL)
    return not [row for row in find() if (row.pid, row.started) not in stopped]


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
