"""What holds a machine of this backend."""

from typing import Any

from llm_sandbox.backends.base import Control, Isolation, Network
from llm_sandbox.limits import Limits

__all__ = ["describe_isolation"]

_NO_GROUP = "needs a control group, which this user may not make"


def describe_isolation(
    *, network: Network, cgroup: bool, landlock: int, limits: Limits | None = None
) -> Isolation:
    """What holds a machine, given what this host has and what was asked for."""
    limits = limits or Limits()
    controls: dict[str, Any] = {
        "files": Control("enforced", "a private root; what it shares is read-only"),
        "network": Control("enforced", "a network namespace with loopback only")
        if network == "blocked"
        else Control("absent", "network='open' shares the host's network"),
        "processes": Control("enforced", "a process namespace with its own init"),
        "privileges": Control("enforced", "no capability, no new privileges, no nested namespaces"),
        "system_calls": Control("enforced", "seccomp filter"),
        "landlock": Control("enforced", f"Landlock version {landlock}")
        if landlock
        else Control("absent", "this kernel has no Landlock"),
        "process_count": Control("enforced", "RLIMIT_NPROC in a user namespace of its own"),
        "disk": Control("enforced", "sized file systems in memory with an inode limit"),
        "lifetime": Control("enforced", "process 1 ends with the host's connection"),
        "memory": Control("enforced", "memory control group")
        if cgroup
        else Control("approximated", "RLIMIT_DATA a process; the sum is watched, memfd refused"),
        "cpu": _cpu_control(cgroup=cgroup, asked=limits.cpus is not None),
    }
    if limits.cpus_requested is not None:
        controls["cpu_request"] = _request("cpus_requested", "cpu", cgroup=cgroup)
    if limits.memory_requested_bytes is not None:
        controls["memory_request"] = _request("memory_requested_bytes", "memory", cgroup=cgroup)
    return Isolation("bubblewrap", "namespaces", controls)


def _cpu_control(*, cgroup: bool, asked: bool) -> Control:
    if not asked:
        return Control("absent", "no limit was asked for")
    if cgroup:
        return Control("enforced", "cpu control group")
    return Control("absent", f"limits.cpus {_NO_GROUP}")


def _request(field: str, group: str, *, cgroup: bool) -> Control:
    if not cgroup:
        return Control("absent", f"limits.{field} {_NO_GROUP}")
    return Control("approximated", f"{group} control group: a share, where others want some too")
