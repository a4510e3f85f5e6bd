"""Parser of ``docker run`` options for the containers of agents."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from llm_sandbox.exceptions import UnsupportedError, ValidationError

__all__ = ["DockerArguments", "read_docker_args"]

_FIELD: Final = "docker_args"

_TEXTS: Final = {
    "--cgroup-parent": "cgroup_parent",
    "--cgroupns": "cgroupns",
    "--cpuset-cpus": "cpuset_cpus",
    "--cpuset-mems": "cpuset_mems",
    "--hostname": "hostname",
    "--ipc": "ipc_mode",
    "--memory": "mem_limit",
    "--memory-reservation": "mem_reservation",
    "--memory-swap": "memswap_limit",
    "--network": "network",
    "--pid": "pid_mode",
    "--platform": "platform",
    "--runtime": "runtime",
    "--shm-size": "shm_size",
    "--user": "user",
    "--userns": "userns_mode",
    "--uts": "uts_mode",
}
_NUMBERS: Final[dict[str, tuple[str, type[int] | type[float]]]] = {
    "--cpu-period": ("cpu_period", int),
    "--cpu-quota": ("cpu_quota", int),
    "--cpu-shares": ("cpu_shares", int),
    "--cpus": ("cpus", float),
    "--memory-swappiness": ("mem_swappiness", int),
    "--oom-score-adj": ("oom_score_adj", int),
    "--pids-limit": ("pids_limit", int),
}
_LISTS: Final = {
    "--cap-add": "cap_add",
    "--cap-drop": "cap_drop",
    "--device": "devices",
    "--device-cgroup-rule": "device_cgroup_rules",
    "--dns": "dns",
    "--dns-option": "dns_opt",
    "--dns-search": "dns_search",
    "--security-opt": "security_opt",
    "--volume": "volumes",
    "--volumes-from": "volumes_from",
}
_MAPPINGS: Final = {
    "--add-host": ("extra_hosts", ":"),
    "--label": ("labels", "="),
    "--sysctl": ("sysctls", "="),
    "--tmpfs": ("tmpfs", ":"),
}
_SWITCHES: Final = {
    "--oom-kill-disable": "oom_kill_disable",
    "--privileged": "privileged",
    "--read-only": "read_only",
}
_SHORT: Final = {
    "-e": "--env",
    "-h": "--hostname",
    "-l": "--label",
    "-m": "--memory",
    "-p": "--publish",
    "-u": "--user",
    "-v": "--volume",
    "--net": "--network",
}
_OWN: Final = {
    "--detach": ("the command is waited for", None),
    "--entrypoint": ("process 1 is the sandbox's own", "put the program into the command"),
    "--gpus": ("containers of this adapter have no GPUs", None),
    "--init": ("process 1 is the sandbox's own, and reaps", "leave it out"),
    "--interactive": ("a command gets no input", None),
    "--name": ("it has a field of its own", "name=..."),
    "--publish": ("ports of a container would lead past its walls", None),
    "--restart": ("a container ends with its run", None),
    "--rm": ("it has a field of its own", "remove_on_exit=True"),
    "--tty": ("a command has no terminal", None),
    "--workdir": ("it has a field of its own", "workdir=..."),
    "-d": ("the command is waited for", None),
    "-i": ("a command gets no input", None),
    "-it": ("a command has no terminal", None),
    "-t": ("a command has no terminal", None),
    "-w": ("it has a field of its own", "workdir=..."),
}
_ULIMIT = re.compile(r"([a-z]+)=(-?[0-9]+)(?::(-?[0-9]+))?", re.ASCII)
_READ_ONLY = ("readonly", "ro")


@dataclass
class DockerArguments:
    """Parsed ``docker run`` options."""

    runtime_configs: dict[str, Any] = field(default_factory=dict)
    """Options by the names of docker-py's ``containers.create``."""
    mounts: list[dict[str, Any]] = field(default_factory=list)
    """Mounts in the form of the engine's API."""
    env: dict[str, str] = field(default_factory=dict, repr=False)
    """Environment variables of the command; they are not part of the container's configuration."""


def read_docker_args(words: Sequence[str]) -> DockerArguments:
    """Parse options of ``docker run``, without checking whether they are dangerous.

    Args:
        words: Options as on a command line: ``["--cpus", "2", "--memory=4g"]``.

    Raises:
        ValidationError: An option is unknown, or its value is missing or invalid.
        UnsupportedError: An option is set by the adapter.
    """
    found = DockerArguments()
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            raise _bad(
                f"{word!r} is not an option; the image and the command have fields of their own"
            )
        name, value = _split(word)
        if name in _OWN:
            reason, instead = _OWN[name]
            hint = instead and f"use {instead}"
            raise UnsupportedError(f"{_FIELD} {name}", reason=reason, hint=hint)
        _take(found, name, value, rest)
    return found


def _split(word: str) -> tuple[str, str | None]:
    """Return the long name of an option, and the value attached to it."""
    name, equals, value = word.partition("=")
    if not word.startswith("--") and len(word) > 2 and word[:2] in _SHORT:
        name, equals, value = word[:2], "=", word[2:].removeprefix("=")
    return _SHORT.get(name, name), value if equals else None


def _take(found: DockerArguments, name: str, value: str | None, rest: Iterator[str]) -> None:
    configs = found.runtime_configs
    if name in _SWITCHES:
        if value not in (None, "true", "false"):
            raise _bad(f"{name} is true or false, not {value!r}")
        configs[_SWITCHES[name]] = value != "false"
        return
    known = name in _TEXTS or name in _NUMBERS or name in _LISTS or name in _MAPPINGS
    if not known and name not in _TAKERS:
        raise _bad(f"{name!r} is not a supported option of containers")
    if value is None:
        value = next(rest, None)
        if value is None:
            raise _bad(f"{name} lacks its value")
    if name in _TEXTS:
        configs[_TEXTS[name]] = value
    elif name in _NUMBERS:
        config, kind = _NUMBERS[name]
        try:
            configs[config] = kind(value)
        except ValueError:
            raise _bad(f"{name} is a number, not {value!r}") from None
    elif name in _LISTS:
        configs.setdefault(_LISTS[name], []).append(value)
    elif name in _MAPPINGS:
        config, separator = _MAPPINGS[name]
        key, _, item = value.partition(separator)
        configs.setdefault(config, {})[key] = item
    else:
        _TAKERS[name](found, value)


def _take_env(found: DockerArguments, value: str) -> None:
    name, equals, text = value.partition("=")
    if not equals:
        if name not in os.environ:
            return  # as the engine's own command line does
        text = os.environ[name]
    found.env[name] = text


def _take_ulimit(found: DockerArguments, value: str) -> None:
    match = _ULIMIT.fullmatch(value)
    if match is None:
        raise _bad(f"--ulimit is name=soft[:hard], not {value!r}")
    entry = {"Name": match[1], "Soft": int(match[2]), "Hard": int(match[3] or match[2])}
    found.runtime_configs.setdefault("ulimits", []).append(entry)


def _take_mount(found: DockerArguments, value: str) -> None:
    mount: dict[str, Any] = {"Type": "volume", "ReadOnly": False}
    for item in value.split(","):
        name, equals, text = item.partition("=")
        if name == "type":
            mount["Type"] = text
        elif name in ("source", "src"):
            mount["Source"] = text
        elif name in ("target", "destination", "dst"):
            mount["Target"] = text
        elif name in _READ_ONLY:
            mount["ReadOnly"] = not equals or text in ("true", "1")
        else:
            raise _bad(f"--mount: {name!r} is not known here")
    if not mount.get("Target"):
        raise _bad("--mount lacks its target")
    found.mounts.append(mount)


_TAKERS: Final[dict[str, Callable[[DockerArguments, str], None]]] = {
    "--env": _take_env,
    "--mount": _take_mount,
    "--ulimit": _take_ulimit,
}


def _bad(message: str) -> ValidationError:
    return ValidationError(f"{_FIELD}: {message}", parameter=_FIELD)
