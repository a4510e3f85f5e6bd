"""Resolution of a session's options into a backend and settings that honour them.

Engine options come by docker-py's names (`runtime_configs`): what a sandbox without an engine can
honour becomes a setting, the rest is for the engine's containers, or refused.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from llm_sandbox.backends.base import Backend
from llm_sandbox.exceptions import UnsupportedError, ValidationError
from llm_sandbox.guest.constants import USER_ID
from llm_sandbox.limits import Limits, validate_timeout
from llm_sandbox.session.config import SessionConfig

if TYPE_CHECKING:
    from llm_sandbox.backends.options.container_options import ContainerOptions

__all__ = ["container_option", "resolve_config"]

_DEFAULT_WORKDIR = "/sandbox"

_ALWAYS_SO: Final[Mapping[str, bool]] = {
    "auto_remove": True,
    "detach": True,
    "init": True,
    "remove": True,
    "stdin_open": True,
    "tty": False,
}
"""Options with the value that holds for every sandbox: it ends with its session, runs in the
background, and its process 1 reaps."""

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
"""Options that a hardened sandbox without an engine has anyway: by name, whether a value requests
that."""

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
"""Misspelled names, and the options that they stand for."""

_OF_PODS: Final = ("kube_namespace", "pod_manifest")
"""Options that only pods have."""

_MICROMAMBA_VARIABLES = ("CONDA_", "MAMBA_")
"""Prefixes of variables that decide where an environment's packages come from."""


def resolve_config(
    backend: Backend,
    config: SessionConfig,
    options: Mapping[str, Any],
    runtime_configs: Mapping[str, Any] | None = None,
    client: object = None,
) -> tuple[Backend, SessionConfig]:
    """Return the backend and the settings of a session, with all options applied.

    Args:
        backend: The chosen backend.
        config: The settings so far.
        options: Options of containers, by the names of a session's arguments.
        runtime_configs: Engine options by docker-py's names.
        client: An engine's client.

    Raises:
        UnsupportedError: The backend cannot honour an option.
        ValidationError: A value is not acceptable.
        SecurityError: An option would weaken a container's isolation and is not in
            ``allow_unsafe``.
    """
    mounts = options.get("mounts")
    if isinstance(mounts, Mapping) and not _is_docker_mount(mounts):
        options = {**options, "mounts": ()}
        config = replace(config, mounts=mounts)
    backend, options = _bind_pod(backend, options)
    config, configs = _apply_common(config, runtime_configs)
    if not backend.has_containers:
        _refuse_container_options(backend.name, {**options, "client": client})
        return backend, _apply_runtime_configs(config, configs, backend)
    return _bind_container(backend, config, options, configs, client)


def container_option(
    options: Mapping[str, Any], runtime_configs: object, client: object = None
) -> str | None:
    """Return the name of the first option that only a container engine has; None for none.

    Args:
        options: Options of containers, by the names of a session's arguments.
        runtime_configs: Engine options by docker-py's names.
        client: An engine's client.
    """
    if client is not None:
        return "client="
    for name, value in options.items():
        # Nothing is built, so nothing is kept; and an environment is micromamba's.
        if name in ("keep_template", "environment") or _is_unset(value):
            continue
        if name != "mounts" or not isinstance(value, Mapping) or _is_docker_mount(value):
            return f"{name}="
    for name, value in runtime_configs.items() if isinstance(runtime_configs, Mapping) else ():
        if not (
            value is None
            or name in _SYNONYMS
            or name == "working_dir"
            or _needs_no_engine(name, value)
        ):
            return f"runtime_configs[{name!r}]"
    return None


def _needs_no_engine(name: str, value: object) -> bool:
    if name in _LIMITS or name in ("environment", "timeout") or _ALWAYS_SO.get(name) is value:
        return True
    return name in _HARDENING and _HARDENING[name](value)


def _is_unset(value: object) -> bool:
    return value is None or value is False or value in ((), [])


def _is_docker_mount(value: Mapping[str, Any]) -> bool:
    """Return whether a mapping is a `docker.types.Mount`, and not mounts by path."""
    return "Target" in value


def _refuse_container_options(backend: str, options: Mapping[str, object]) -> None:
    """Refuse options that only a container engine has, rather than ignore them.

    Raises:
        UnsupportedError: An option is set.
    """
    for name, value in options.items():
        # Nothing is built, so nothing is kept.
        if name != "keep_template" and not _is_unset(value):
            engine = "micromamba" if name == "environment" else "docker"
            raise UnsupportedError(
                f"{name}=",
                backend,
                "it has no images and no containers",
                hint=f"name a container backend: backend={engine!r}",
            )


# --- runtime configs


def _apply_common(
    config: SessionConfig, runtime_configs: Mapping[str, Any] | None
) -> tuple[SessionConfig, dict[str, Any]]:
    """Apply what means the same for every backend.

    Args:
        config: The settings so far.
        runtime_configs: The options; ``working_dir`` is another name of `workdir`.

    Returns:
        The settings, and the options that are left.

    Raises:
        ValidationError: The options are not a mapping, or a name or value is not acceptable.
    """
    if runtime_configs is not None and not isinstance(runtime_configs, Mapping):
        raise ValidationError(
            "invalid runtime_configs: expected a mapping of names to values, got "
            f"{type(runtime_configs).__name__}",
            parameter="runtime_configs",
        )
    rest = {}
    for name, value in (runtime_configs or {}).items():
        if name in _SYNONYMS:
            raise ValidationError(
                f"unknown runtime config {name!r}",
                parameter="runtime_configs",
                hint=f"did you mean {_SYNONYMS[name]!r}?",
            )
        if name == "working_dir" and value is not None:
            config = _set_workdir(config, value)
        elif value is not None and _ALWAYS_SO.get(name) is not value:
            rest[name] = value
    return config, rest


def _set_workdir(config: SessionConfig, value: object) -> SessionConfig:
    changed = replace(config, workdir=str(value))
    if config.workdir not in (_DEFAULT_WORKDIR, changed.workdir):
        raise ValidationError(
            f"runtime_configs['working_dir'] is {value!r}, and workdir is {config.workdir!r}; "
            "they are the same option",
            parameter="runtime_configs",
            hint="give one of them",
        )
    return changed


def _apply_runtime_configs(
    config: SessionConfig, runtime_configs: Mapping[str, Any], backend: Backend | None = None
) -> SessionConfig:
    """Apply the options that a sandbox without an engine can honour.

    Args:
        config: The settings so far.
        runtime_configs: Limits, ``environment``, ``timeout``, and the options of `_HARDENING`.
        backend: The backend; None where there are only limits, ``environment`` and ``timeout``.

    Raises:
        UnsupportedError: Another option was given, or one that the backend does not enforce.
        ValidationError: A value is not acceptable, or contradicts `network`.
    """
    limits, env, timeout = config.limits, dict(config.env), config.execution_timeout
    for name, value in runtime_configs.items():
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
    name: str, value: object, config: SessionConfig, backend: Backend | None
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
            "its sandboxes are hardened, and this value is not the hardened one",
            hint="leave it out, or name a container backend: backend='docker'",
        )
    if name in _NETWORK:
        if config.network != "blocked":
            raise ValidationError(
                f"runtime_configs[{name!r}] requests no network, and network= requests one",
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
    raise ValidationError(
        f"invalid environment: expected a mapping or a list, got {type(value).__name__}",
        parameter="runtime_configs",
    )


# --- containers


def _bind_pod(backend: Backend, options: Mapping[str, Any]) -> tuple[Backend, Mapping[str, Any]]:
    """Return the backend with the options that only pods have, and the other options.

    Raises:
        UnsupportedError: The backend has no pods.
    """
    rest = {name: value for name, value in options.items() if name not in _OF_PODS}
    pod = {name: options[name] for name in _OF_PODS if options.get(name) is not None}
    bind = getattr(backend, "with_pods", None)
    if bind is None:
        for name in pod:
            raise UnsupportedError(
                f"{name}=", backend.name, "it has no pods", hint="backend='kubernetes'"
            )
        return backend, rest
    return bind(allow_unsafe=rest.pop("allow_unsafe", ()), **pod), rest


def _bind_container(
    backend: Backend,
    config: SessionConfig,
    options: Mapping[str, Any],
    runtime_configs: Mapping[str, Any],
    client: object,
) -> tuple[Backend, SessionConfig]:
    """Return the backend that makes containers with these options, and the session's settings.

    Args:
        backend: The engine's.
        config: The session's settings so far.
        options: The fields of `ContainerOptions` that are arguments of a session.
        runtime_configs: Arguments of docker-py's ``client.containers.create``.
        client: The engine's client; None for its usual one.

    Raises:
        UnsupportedError: The backend cannot honour an option.
        ValidationError: An option is malformed, unknown, or contradicts another.
        SecurityError: An option would weaken the container's isolation and is not in
            `allow_unsafe`.
        MissingDependencyError: The engine's client is not installed.
    """
    from llm_sandbox.backends.options.container_options import ContainerOptions
    from llm_sandbox.backends.options.unsafe_options import is_unlimited

    if options.get("environment") is not None and backend.name != "micromamba":
        raise UnsupportedError(
            "environment=",
            backend.name,
            "it names an environment of micromamba",
            hint="backend='micromamba'; variables are given with env={...}",
        )
    configs = dict(runtime_configs)
    given = ContainerOptions(lang=str(config.lang), runtime_configs=configs, **options)
    bound = backend.with_options(_shared_options(given, backend.name), client)
    # A backend that was given as an object has options for sessions of its own.
    own = bound.options or given
    configs = {**own.runtime_configs, **configs}
    limits = {
        name: value
        for name, value in configs.items()
        if name in _LIMITS and not (value is None or is_unlimited(value))
    }
    timeout = given.execution_timeout or config.execution_timeout
    config = replace(
        _apply_runtime_configs(config, limits),
        env={**own.env, **config.env, **given.env},
        execution_timeout=timeout or own.execution_timeout,
    )
    return bound.with_libraries(config.libraries), config


def _shared_options(options: "ContainerOptions", backend: str) -> "ContainerOptions":
    """Return the options without those that may differ between sessions that share a backend."""
    kept = _MICROMAMBA_VARIABLES if backend == "micromamba" else ()
    env = {name: value for name, value in options.env.items() if name.startswith(kept)}
    return replace(options, env=env, execution_timeout=None)
