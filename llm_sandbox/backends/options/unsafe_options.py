"""Unsafe container options, which are rejected unless the caller allows them by name."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from llm_sandbox.backends.host_paths import path_risk
from llm_sandbox.backends.options.mount_points import MountPoint
from llm_sandbox.exceptions import SecurityError

__all__ = [
    "ADDED_CAPABILITIES",
    "UNSAFE",
    "find_unsafe_options",
    "is_unlimited",
    "reject_unsafe_options",
]

ADDED_CAPABILITIES: Final = ("KILL", "SETGID", "SETPCAP", "SETUID", "SYS_PTRACE")
"""Capabilities that process 1 needs to start code as another user, to recognise its processes by
their environment, and to end them."""

UNSAFE: Final = (
    "cap_add",
    "cgroup_parent",
    "cgroupns",
    "device_cgroup_rules",
    "devices",
    "ipc_mode",
    "mem_limit",
    "mounts",
    "network",
    "network_mode",
    "oom_kill_disable",
    "oom_score_adj",
    "pid_mode",
    "pids_limit",
    "privileged",
    "security_opt",
    "sysctls",
    "user",
    "userns_mode",
    "uts_mode",
    "volumes",
    "volumes_from",
)
"""Options with unsafe values, which `allow_unsafe` may name."""

_NAMESPACES: Final = {
    "network": "services that trust the network of the host, or of another container, are reached",
    "network_mode": "services that trust the network of the host, or of another container, are "
    "reached",
    "pid_mode": "processes outside the sandbox are seen, and those of the same user signalled",
    "ipc_mode": "memory that other programs share is read and changed",
    "uts_mode": "the machine's name is shared",
    "userns_mode": "user ids inside are those of the machine",
    "cgroupns": "the machine's control groups are seen",
}
_SHARED: Final = ("container:", "ns:", "path:")
"""Prefixes of the names of foreign namespaces, beside ``host``."""

_PRESENCE: Final = {
    "privileged": "it gives the container every capability and every device of the machine",
    "devices": "a device is read and written past every file permission",
    "device_cgroup_rules": "devices of the machine can be made and opened",
    "cgroup_parent": "it takes the container out of the group that the engine's limits hold",
    "volumes_from": "it brings the mounts of another container, whatever they are",
    "oom_kill_disable": "a container that cannot be killed takes the machine's memory with it",
}


def find_unsafe_options(
    given: Mapping[str, Any], mount_points: Sequence[MountPoint]
) -> Iterator[tuple[str, object, str]]:
    """Yield the unsafe options: name, value and reason.

    Args:
        given: Runtime configs, immutable.
        mount_points: The mount points of the caller.
    """
    yield from _openings(given)
    yield from _excesses(given)
    for mount_point in mount_points:
        writable = not mount_point.read_only
        risk = (
            None if mount_point.source is None else path_risk(mount_point.source, writable=writable)
        )
        if risk is not None:
            yield mount_point.option, mount_point.source, risk


def _openings(given: Mapping[str, Any]) -> Iterator[tuple[str, object, str]]:
    """Yield the options that lead out of the container."""
    for name, reason in _PRESENCE.items():
        if given.get(name):
            yield name, given[name], reason
    for name, reason in _NAMESPACES.items():
        value = str(given.get(name, ""))
        if value == "host" or value.startswith(_SHARED):
            yield name, value, reason
    added = [cap for cap in given.get("cap_add", ()) if _bare(cap) not in ADDED_CAPABILITIES]
    if added:
        yield "cap_add", added, "capabilities are what the kernel asks for before it gives way"
    for option in given.get("security_opt", ()):
        risk = _weakened_protection(str(option))
        if risk is not None:
            yield "security_opt", option, risk


def _excesses(given: Mapping[str, Any]) -> Iterator[tuple[str, object, str]]:
    """Yield the options that endanger the machine, or the sandbox's process 1."""
    other = [name for name in given.get("sysctls", {}) if not str(name).startswith("net.")]
    if other:
        yield "sysctls", other, "settings outside net.* reach beyond the container's network"
    if isinstance(score := given.get("oom_score_adj"), int) and score < 0:
        yield "oom_score_adj", score, "the machine would rather end its other programs"
    for name, whole in (("mem_limit", "memory"), ("pids_limit", "process table")):
        if name in given and is_unlimited(given[name]):
            yield name, given[name], f"without a limit code takes all of the machine's {whole}"
    user = str(given.get("user", "")).partition(":")[0]
    if user == "root" or (user.isdecimal() and int(user) == 0):
        yield "user", given["user"], "code of that user can disturb the process that guards it"


def reject_unsafe_options(
    risks: Iterator[tuple[str, object, str]], allowed: Sequence[str]
) -> tuple[str, ...]:
    """Reject the first unsafe option that was not allowed by name.

    Returns:
        The names of the allowed ones, sorted.

    Raises:
        SecurityError: One was not allowed; the hint says how to allow it.
    """
    accepted = set()
    for name, value, reason in risks:
        if name not in allowed:
            shown = json.dumps(value, default=list)
            raise SecurityError(
                f"{name}={shown if len(shown) < 100 else '...'} is refused: {reason}",
                op="configure",
                hint=f"to take that risk, name it: allow_unsafe=[{name!r}]",
                context={"parameter": name},
            )
        accepted.add(name)
    return tuple(sorted(accepted))


def is_unlimited(value: object) -> bool:
    """Return whether a value means no limit, as 0 and below do to engines."""
    return str(value).strip().startswith("-") or str(value).strip() == "0"


def _bare(capability: object) -> str:
    return str(capability).upper().removeprefix("CAP_")


def _weakened_protection(option: str) -> str | None:
    name, _, value = option.replace(":", "=", 1).partition("=")
    if value == "unconfined":
        return f"it takes {name} away, one of the walls between the code and the kernel"
    if name == "label" and value.startswith("disable"):
        return "it takes SELinux away, one of the walls between the code and the machine"
    if name == "no-new-privileges" and value == "false":
        return "programs could give the code privileges that it was started without"
    return None
