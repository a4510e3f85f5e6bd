"""Isolation and limits that the arguments of a container give."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llm_sandbox.backends.base import Control, Network
from llm_sandbox.backends.options.mount_points import MountPoint

__all__ = ["EffectiveConfig"]


@dataclass(frozen=True)
class EffectiveConfig:
    """Isolation and limits of one container; None for a limit that it does not have."""

    network: Network
    """Whether it reaches a network."""
    network_name: str
    """The engine's name of the network, such as ``none`` or ``bridge``."""
    user: str
    """User of the code: ``user[:group]``, ids or names of the image."""
    memory_bytes: int | None
    """Memory of all its processes, the sandbox's own included."""
    processes: int | None
    """Processes and threads in it, the sandbox's own included."""
    cpus: float | None
    """CPUs that may be busy at once."""
    cpus_requested: float | None
    """CPUs that it gets on a busy machine."""
    memory_requested_bytes: int | None
    """Memory that it keeps on a busy machine."""
    gpu: str | int | None
    """Graphics processors in it."""
    read_only_root: bool
    """Whether the image's files cannot be changed."""
    workdir_bytes: int | None
    """Size of the working directory, where it is a file system in memory with a size."""
    tmp_bytes: int | None
    """Size of ``/tmp``, likewise."""
    shm_bytes: int | None
    """Size of ``/dev/shm``, likewise."""
    inodes: int | None
    """Files and directories in each of the three; None where the engine cannot limit them."""
    seccomp: str
    """Origin of its seccomp profile: ``own``, ``caller`` or ``none``."""
    mount_points: tuple[MountPoint, ...]
    """Mount points of the caller."""
    risks: tuple[str, ...]
    """Unsafe options that the caller allowed."""

    def controls(self, facts: Mapping[str, Any]) -> dict[str, Control]:
        """Return the controls of the isolation report.

        Args:
            facts: The engine's description of itself (Docker's ``/info``): a kernel may lack a
                control group, and the engine then ignores the limit.
        """
        controls = {
            "files": self._files(),
            "network": self._network(),
            "processes": self._unless("pid_mode", "a process namespace", "processes outside"),
            "privileges": self._privileges(),
            "system_calls": self._system_calls(facts),
            "process_count": _limit(self.processes, "pids", facts.get("PidsLimit")),
            "disk": self._disk(),
            "lifetime": Control("enforced", "process 1 ends with the host's connection"),
            "memory": _limit(self.memory_bytes, "memory", facts.get("MemoryLimit")),
            "cpu": _limit(self.cpus, "cpu", facts.get("CpuCfsQuota"), asked=False),
        }
        if self.cpus_requested is not None:
            controls["cpu_request"] = _request("cpu", facts.get("CpuCfsQuota"))
        if self.memory_requested_bytes is not None:
            controls["memory_request"] = _request("memory", facts.get("MemoryLimit"))
        if self.gpu is not None:
            by = f"graphics processors, as asked: {self.gpu}"
            controls["devices"] = Control("approximated", by)
        return controls

    def _unless(self, risk: str, by: str, shared: str) -> Control:
        if risk in self.risks:
            return Control("absent", f"{risk} shares {shared}")
        return Control("enforced", by)

    def _files(self) -> Control:
        if {"privileged", "devices", "device_cgroup_rules"} & {*self.risks}:
            return Control("absent", "the machine's devices can be read and written")
        root = "the image's files, " + ("read-only" if self.read_only_root else "a private copy")
        outside = [
            str(mount_point) for mount_point in self.mount_points if mount_point.option != "tmpfs"
        ]
        if not outside and "volumes_from" not in self.risks:
            return Control("enforced", root)
        shared = ", ".join(outside) or "volumes_from"
        return Control("approximated", f"{root}; besides, as asked: {shared}")

    def _network(self) -> Control:
        if self.network == "blocked":
            return Control("enforced", "a network namespace with loopback only")
        return Control("absent", f"the engine's network {self.network_name!r} is open")

    def _privileges(self) -> Control:
        given = sorted({"privileged", "cap_add", "security_opt", "user"} & {*self.risks})
        if given:
            return Control("approximated", f"user {self.user}; allowed: {', '.join(given)}")
        return Control("enforced", f"user {self.user}, no capability, no new privileges")

    def _system_calls(self, facts: Mapping[str, Any]) -> Control:
        # The supervisor has a filter of its own for code in any case.
        has = facts.get("SecurityOptions")
        refused = has is not None and not any("name=seccomp" in str(option) for option in has)
        if self.seccomp == "own" and not refused and "privileged" not in self.risks:
            return Control("enforced", "seccomp, by the engine and by process 1")
        return Control("enforced", "seccomp, by process 1")

    def _disk(self) -> Control:
        unlimited = [
            mount_point.target for mount_point in self.mount_points if mount_point.is_unlimited
        ]
        ours = {
            "the working directory": self.workdir_bytes,
            "/tmp": self.tmp_bytes,  # noqa: S108 - inside
            "/dev/shm": self.shm_bytes,  # noqa: S108 - inside
        }
        unlimited += [name for name, size in ours.items() if size is None]
        if not self.read_only_root:
            unlimited.append("the container's own layer")
        if unlimited:
            return Control("approximated", f"no size limits: {', '.join(dict.fromkeys(unlimited))}")
        if self.inodes is None:
            return Control("approximated", "sized file systems in memory, any number of files")
        return Control("enforced", "sized file systems in memory with an inode limit")


def _request(group: str, accounted: object) -> Control:
    if accounted is False:
        return Control("absent", f"the engine has no {group} control group")
    return Control("approximated", f"{group} control group: a share, where others want some too")


def _limit(value: float | None, group: str, has: object, *, asked: bool = True) -> Control:
    if value is None:
        return Control("absent", "it was taken off" if asked else "no limit was asked for")
    if has is False:
        return Control("absent", f"the engine's kernel has no {group} control group")
    return Control("enforced", f"{group} control group")
