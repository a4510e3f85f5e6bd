"""Engine options by docker-py's names: what a session takes of them, and what needs an engine."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from llm_sandbox.backends.base import Backend
from llm_sandbox.exceptions import UnsupportedError, ValidationError
from llm_sandbox.guest.constants import USER_ID
from llm_sandbox.limits import Limits, validate_timeout

if TYPE_CHECKING:
    from llm_sandbox.session.config import SessionConfig

__all__ = ["apply_runtime_configs", "container_option", "take_place"]

_DEFAULT_WORKDIR = "/sandbox"

_ALWAYS_SO: Final[Mapping[str, bool]] = {
    "auto_remove": True,
    "detach": True,
    "init": True,
    "remove": True,
    "stdin_open": True,
    "tty": False,
}
"""What every sandbox is like: it ends with its session, runs beside it, and its process 1 reaps."""

_LIMITS: Final[Mapping[str, Callable[[Limits, Any], Limits]]] = {
    "mem_limit": lambda limits, value: limits.replace(memory_bytes=_size("mem_limit", value)),
    "pids_limit": lambda limits, value: limits.replace(processes=value),
    "shm_size": lambda limits, value: limits.replace(shm_bytes=_size("shm_size", value)),
    "cpu_count": lambda limits, value: limits.replace(cpus=float(value)),
    "cpus": lambda limits, value: limits.replace(cpus=float(value)),
    "nano_cpus": lambda limits, value: limits.replace(cpus=value / 1e9),
}

_USERS: Final = ("nobody", str(USER_ID))

_HARDENING: Final[Mapping[str, Callable[[Any], bool]]] = {
    "cap_add": lambda value: not value,
    "cap_drop": lambda value: True,
    "network": lambda value: value == "none",
    "network_disabled": lambda value: value is True,
    "network_mode": lambda value: value == "none",
    "privileged": lambda value: not value,
    "read_only": lambda value: value is True,
    "security_opt": lambda value: all(_is_no_new_privileges(one) for one in _list(value)),
    "user": lambda value: str(value).partition(":")[0] in _USERS,
}
"""What a sandbox without an engine is like anyway, where its backend hardens it: by option, whether
a value asks for that."""

_NETWORK: Final = ("network", "network_disabled", "network_mode")

_SYNONYMS: Final = {
    "cpu": "cpus",
    "cpu_limit": "cpus",
    "env": "environment",
    "mem": "mem_limit",
    "memory": "mem_limit",
    "memory_limit": "mem_limit",
    "pids": "pids_limit",
    "workdir": "working_dir",
}
"""Names that are none, and what was meant."""


def take_place(
    config: "SessionConfig", given: Mapping[str, Any] | None
) -> "tuple[SessionConfig, dict[str, Any]]":
    """Take over what is the same for every sandbox; returns the other options besides.

    Args:
        config: The settings so far.
        given: The options; ``working_dir`` is another name of `workdir`.

    Raises:
        ValidationError: They are no mapping, or a name or value is not acceptable.
    """
    if given is not None and not isinstance(given, Mapping):
        raise ValidationError(
            "runtime_configs is a mapping of names to values", parameter="runtime_configs"
        )
    rest = {}
    for name, value in (given or {}).items():
        if name in _SYNONYMS:
            raise ValidationError(
                f"there is no runtime config {name!r}",
                parameter="runtime_configs",
                hint=f"did you mean {_SYNONYMS[name]!r}?",
            )
        if name == "working_dir" and value is not None:
            config = _in_workdir(config, value)
        elif value is not None and _ALWAYS_SO.get(name) is not value:
            rest[name] = value
    return config, rest


def _in_workdir(config: "SessionConfig", value: object) -> "SessionConfig":
    changed = replace(config, workdir=str(value))
    if config.workdir not in (_DEFAULT_WORKDIR, changed.workdir):
        raise ValidationError(
            f"runtime_configs['working_dir'] is {value!r}, and workdir is {config.workdir!r}; "
            "they are the same thing",
            parameter="runtime_configs",
            hint="give one of them",
        )
    return changed


def container_option(
    asked: Mapping[str, Any], runtime_configs: object, client: object = None
) -> str | None:
    """Return the first option that only a container engine has; None when there is none.

    Args:
        asked: Options of containers, by the names of a session's arguments.
        runtime_configs: Engine options by docker-py's names.
        client: An engine's client.
    """
    if client is not None:
        return "client="
    for name, value in asked.items():
        # Where nothing is built, nothing is kept; and an environment is micromamba's.
        if name in ("keep_template", "environment") or _asks_nothing(value):
            continue
        # One of Docker's own mounts is a mapping, too.
        if name != "mounts" or not isinstance(value, Mapping) or "Target" in value:
            return f"{name}="
    for name, value in runtime_configs.items() if isinstance(runtime_configs, Mapping) else ():
        if not (
            value is None or name in _SYNONYMS or name == "working_dir" or _is_ours(name, value)
        ):
            return f"runtime_configs[{name!r}]"
    return None


def _is_ours(name: str, value: object) -> bool:
    """Whether an option can be honoured without an engine."""
    if name in _LIMITS or name in ("environment", "timeout") or _ALWAYS_SO.get(name) is value:
        return True
    return name in _HARDENING and _HARDENING[name](value)


def apply_runtime_configs(
    config: "SessionConfig", given: Mapping[str, Any], backend: Backend | None = None
) -> "SessionConfig":
    """Take over the options that a sandbox without an engine can honour.

    Args:
        config: The settings so far.
        given: Limits, ``environment``, ``timeout``, and what `_HARDENING` lists.
        backend: The backend; None where only limits, ``environment`` and ``timeout`` are given.

    Raises:
        UnsupportedError: Another option was given, or one that the backend does not enforce.
        ValidationError: A value is not acceptable, or contradicts `network`.
    """
    limits, env, timeout = config.limits, dict(config.env), config.execution_timeout
    for name, value in given.items():
        if value is None:
            continue
        if name in _LIMITS:
            limits = _LIMITS[name](limits, value)
        elif name == "environment":
            env.update(_environment(value))
        elif name == "timeout":
            timeout = validate_timeout(value, "runtime_configs['timeout']")
        else:
            _check_hardening(name, value, config, backend)
    return replace(config, limits=limits, env=env, execution_timeout=timeout)


def _check_hardening(
    name: str, value: object, config: "SessionConfig", backend: Backend | None
) -> None:
    if name not in _HARDENING:
        raise UnsupportedError(
            f"runtime_configs[{name!r}]",
            reason="only container engines have it",
            hint="name a container backend: backend='docker'",
        )
    where = backend.name if backend is not None else None
    if not _HARDENING[name](value):
        raise UnsupportedError(
            f"runtime_configs[{name!r}]={value!r}",
            where,
            "its sandboxes are hardened, and this asks for the contrary or for something else",
            hint="leave it out, or name a container backend: backend='docker'",
        )
    if name in _NETWORK:
        if config.network != "blocked":
            raise ValidationError(
                f"runtime_configs[{name!r}] asks for no network, and network= for one",
                parameter="runtime_configs",
                hint="give one of them",
            )
    elif backend is None or not backend.hardens:
        raise UnsupportedError(
            f"runtime_configs[{name!r}]",
            where,
            "nothing enforces it there",
            hint="leave out backend=, or name one that isolates: backend='bubblewrap'",
        )


def _asks_nothing(value: object) -> bool:
    return value is None or value is False or value in ((), [])


def _size(name: str, value: Any) -> int:
    return Limits.parse_size(value, name)


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _is_no_new_privileges(option: object) -> bool:
    name, _, value = str(option).replace(":", "=", 1).partition("=")
    return name == "no-new-privileges" and value in ("", "true")


def _environment(value: object) -> dict[str, str]:
    if isinstance(value, Mapping):
        return {str(key): str(text) for key, text in value.items()}
    if isinstance(value, list | tuple):
        return dict(str(entry).partition("=")[::2] for entry in value)
    raise ValidationError("environment must be a mapping or a list", parameter="runtime_configs")
