"""Processes of gVisor on this computer: those of a sandbox are not in the host's table."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import NamedTuple


class Row(NamedTuple):
    """A living process; `started` tells it from a later one with its pid."""

    pid: int
    started: int
    words: str


def _table() -> dict[int, tuple[int, Row]]:
    """Every living process by its pid, with its parent's."""
    table = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes().replace(b"\0", b" ")
            stat = (path / "stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue
        if stat[0] != b"Z":
            row = Row(int(path.name), int(stat[19]), words.decode("utf-8", "replace"))
            table[row.pid] = int(stat[1]), row
    return table


def processes_of(host: int) -> list[Row]:
    """Living processes of the sandboxes of a host process: those with a name, and what descends
    from them.
    """
    table = _table()
    found = {
        pid for pid, (_, row) in table.items() if "runsc" in row.words and _name(host) in row.words
    }
    while True:
        more = {pid for pid, (parent, _) in table.items() if parent in found} - found
        if not more:
            return [table[pid][1] for pid in sorted(found)]
        found |= more


def launchers_of(host: int) -> list[Row]:
    """Those children of a host process that launched its sandboxes."""
    rows = [row for parent, row in _table().values() if parent == host]
    return [row for row in rows if "gvisor import launcher" in row.words]


def still(rows: list[Row]) -> list[Row]:
    """Those of the processes that live on."""
    table = _table()
    return [row for row in rows if row.pid in table and table[row.pid][1].started == row.started]


def groups_of(host: int) -> list[str]:
    """Control groups of the sandboxes of a host process."""
    # Others' groups come and go meanwhile, which ends a search by pathlib; glob passes over them.
    return glob.glob(f"/sys/fs/cgroup/**/{_name(host)}*", recursive=True)  # noqa: PTH207


def is_root() -> bool:
    """Whether this process is."""
    return os.geteuid() == 0


def _name(host: int) -> str:
    return f"llm-sandbox-{host}-"
