"""Control groups: memory, process and CPU limits of a whole sandbox.

Version 1 has a tree for each controller, version 2 one tree; both are written as files. The host
creates a group and passes its ``cgroup.procs`` file to the sandbox's first process as an open
descriptor, so that processes join by themselves before they run anything.
"""

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from llm_sandbox.backends.hardening.cleanup import remove_group
from llm_sandbox.limits import Limits

__all__ = ["ROOT", "Cgroup", "CgroupTree", "explain_missing", "find_tree"]

ROOT = Path("/sys/fs/cgroup")
_CPU_PERIOD_US = 100_000
_SHARES_OF_CPU, _LEAST_SHARES, _MOST_SHARES = 1024, 2, 1 << 18
_MOST_WEIGHT = 10_000


@dataclass(frozen=True)
class CgroupTree:
    """Directories of this computer in which groups can be created.

    Attributes:
        version: 1 or 2.
        bases: Controller to the directory of its groups; the same for all in version 2.
    """

    version: int
    bases: dict[str, Path]

    def folders(self) -> list[Path]:
        """Return the distinct directories of groups."""
        return sorted(set(self.bases.values()))


def find_tree(root: Path = ROOT, membership: Path = Path("/proc/self/cgroup")) -> CgroupTree | None:
    """Find the directories in which this process may create groups.

    Args:
        root: Mount point of control groups.
        membership: File that lists the groups of this process.

    Returns:
        The tree; None where no directory is writable, which is usual for an ordinary user.
    """
    own = _own_groups(membership)
    bases: dict[str, Path] = {}
    for controller in ("memory", "pids", "cpu"):
        base = root / controller / own.get(controller, "").lstrip("/")
        if controller in own and _is_writable(base):
            bases[controller] = base
    if "memory" in bases:
        return CgroupTree(1, bases)
    base = root / own.get("", "").lstrip("/")
    enabled = _words(base / "cgroup.subtree_control")
    if {"memory", "pids"} <= enabled and _is_writable(base):
        return CgroupTree(2, dict.fromkeys(enabled & {"memory", "pids", "cpu"}, base))
    return None


def explain_missing(tree: CgroupTree | None, controller: str) -> str | None:
    """Return why this process cannot use a controller; None where it can.

    Args:
        tree: What `find_tree` has found.
        controller: ``memory``, ``pids`` or ``cpu``.
    """
    if tree is None:
        return "it needs a control group, which this user may not make"
    if controller not in tree.bases:
        return f"it needs the {controller} controller of control groups, which this process has not"
    return None


def _own_groups(membership: Path) -> dict[str, str]:
    groups = {}
    with contextlib.suppress(OSError):
        for line in membership.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            for controller in controllers.split(","):
                groups[controller] = path
    return groups


def _is_writable(folder: Path) -> bool:
    return folder.is_dir() and os.access(folder, os.W_OK) and os.geteuid() == folder.stat().st_uid


def _words(path: Path) -> set[str]:
    try:
        return set(path.read_text().split())
    except OSError:
        return set()


class Cgroup:
    """Control group of one sandbox.

    Args:
        tree: Directories of groups.
        name: Path below them, such as ``owner/sandbox``.
        limits: Limits of its processes together.

    Raises:
        OSError: The kernel refused the group or a limit.
    """

    def __init__(self, tree: CgroupTree, name: str, limits: Limits) -> None:
        self._tree = tree
        self._paths = {controller: base / name for controller, base in self._needed(tree, limits)}
        for path in set(self._paths.values()):
            path.mkdir(parents=True, exist_ok=True)
            if tree.version == 2:
                _enable_in_parent(path.parent, tree)
        try:
            self._apply(limits)
        except OSError:
            self.remove(wait_s=0)
            raise

    @staticmethod
    def _needed(tree: CgroupTree, limits: Limits) -> list[tuple[str, Path]]:
        # In version 1 joining costs milliseconds for each controller: only those with a limit are
        # joined, and the number of processes is limited inside the sandbox.
        return [
            (controller, base)
            for controller, base in tree.bases.items()
            if tree.version == 2
            or controller == "memory"
            or (controller == "cpu" and (limits.cpus or limits.cpus_requested) is not None)
        ]

    def _apply(self, limits: Limits) -> None:
        memory = self._paths["memory"]
        cpu = self._paths.get("cpu")
        if self._tree.version == 1:
            _write(memory / "memory.limit_in_bytes", limits.memory_bytes)
            with contextlib.suppress(FileNotFoundError):  # absent where swap is not accounted
                _write(memory / "memory.memsw.limit_in_bytes", limits.memory_bytes)
            if cpu is not None and limits.cpus is not None:
                _write(cpu / "cpu.cfs_period_us", _CPU_PERIOD_US)
                _write(cpu / "cpu.cfs_quota_us", int(limits.cpus * _CPU_PERIOD_US))
            if cpu is not None and limits.cpus_requested is not None:
                _write(cpu / "cpu.shares", _shares(limits.cpus_requested))
            if limits.memory_requested_bytes is not None:
                _write(memory / "memory.soft_limit_in_bytes", limits.memory_requested_bytes)
            return
        _write(memory / "memory.max", limits.memory_bytes)
        with contextlib.suppress(FileNotFoundError):
            _write(memory / "memory.swap.max", 0)
        _write(memory / "pids.max", limits.processes + 8)
        if cpu is not None and limits.cpus is not None:
            _write(cpu / "cpu.max", f"{int(limits.cpus * _CPU_PERIOD_US)} {_CPU_PERIOD_US}")
        if cpu is not None and limits.cpus_requested is not None:
            _write(cpu / "cpu.weight", _weight(_shares(limits.cpus_requested)))
        if limits.memory_requested_bytes is not None:
            _write(memory / "memory.low", limits.memory_requested_bytes)

    def update(self, limits: Limits) -> None:
        """Change the limits of `controllers`.

        Raises:
            OSError: The kernel refused a limit, such as less memory than is used.
        """
        swap = self._paths["memory"] / "memory.memsw.limit_in_bytes"
        if self._tree.version == 1 and swap.exists():
            # The limit of memory with swap may never be below that of memory alone.
            now = int(swap.read_text())
            _write(swap, max(now, limits.memory_bytes))
        self._apply(limits)

    @property
    def controllers(self) -> frozenset[str]:
        """Controllers with a limit in this group."""
        return frozenset(self._paths)

    def open_procs(self) -> list[int]:
        """Open the files by which a process joins. The caller closes them.

        In version 1 that is the file for single threads: by it a process with one thread joins
        without the kernel's global lock, which costs 15 ms (measured on Linux 6.18).
        """
        name = "tasks" if self._tree.version == 1 else "cgroup.procs"
        return [
            os.open(path / name, os.O_WRONLY | os.O_CLOEXEC)
            for path in sorted(set(self._paths.values()))
        ]

    def oom_kills(self) -> int:
        """Return how many processes the kernel has killed at the memory limit."""
        name = "memory.oom_control" if self._tree.version == 1 else "memory.events"
        return _event_count(self._paths["memory"] / name, "oom_kill") or 0

    def refused_forks(self) -> int | None:
        """Return how many processes and threads the kernel has refused; None where this group does
        not limit their number.
        """
        pids = self._paths.get("pids")
        return None if pids is None else _event_count(pids / "pids.events", "max")

    def remove(self, wait_s: float = 2.0) -> None:
        """Remove the group, waiting up to `wait_s` seconds for its processes to end."""
        for path in set(self._paths.values()):
            remove_group(str(path), wait_s)


def _event_count(path: Path, wanted: str) -> int | None:
    with contextlib.suppress(OSError):
        for line in path.read_text().splitlines():
            name, _, count = line.partition(" ")
            if name == wanted:
                return int(count)
    return None


def _enable_in_parent(parent: Path, tree: CgroupTree) -> None:
    wanted = " ".join(f"+{controller}" for controller in sorted(tree.bases))
    with contextlib.suppress(OSError):
        (parent / "cgroup.subtree_control").write_text(wanted)


def _shares(cpus: float) -> int:
    return min(_MOST_SHARES, max(_LEAST_SHARES, round(cpus * _SHARES_OF_CPU)))


def _weight(shares: int) -> int:
    """Convert shares of version 1 to a weight of version 2, as container engines do."""
    most, least = _MOST_SHARES, _LEAST_SHARES
    return 1 + (shares - least) * (_MOST_WEIGHT - 1) // (most - least)


def _write(path: Path, value: int | str) -> None:
    path.write_text(str(value))
