"""What a session asks of its container, and the backend that makes such containers."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from llm_sandbox.backends.base import Backend
from llm_sandbox.backends.options.container_options import ContainerOptions
from llm_sandbox.backends.options.unsafe_options import is_unlimited
from llm_sandbox.exceptions import UnsupportedError
from llm_sandbox.session.config import SessionConfig
from llm_sandbox.session.resolution import apply_runtime_configs

__all__ = ["bind_container"]

_LIMITS = ("cpu_count", "cpus", "mem_limit", "nano_cpus", "pids_limit", "shm_size")
"""Runtime configs that are limits of the sandbox as well."""
_OF_ENVIRONMENTS = ("CONDA_", "MAMBA_")
"""Beginnings of variables that say where an environment's packages come from."""


def bind_container(
    backend: Backend,
    config: SessionConfig,
    asked: Mapping[str, Any],
    runtime_configs: Mapping[str, Any] | None = None,
    client: object = None,
) -> tuple[Backend, SessionConfig]:
    """Return the backend that makes such containers, and the session's settings with what the
    runtime configs say of them.

    Args:
        backend: The engine's.
        config: The session's settings so far.
        asked: The fields of `ContainerOptions` that are arguments of a session.
        runtime_configs: Arguments of docker-py's ``client.containers.create``.
        client: The engine's client; None for its usual one.

    Raises:
        UnsupportedError: The backend cannot honour an option.
        ValidationError: An option is malformed, unknown, or contradicts another.
        SecurityError: An option would open the container's walls and is not in `allow_unsafe`.
        MissingDependencyError: The engine's client is not installed.
    """
    if asked.get("environment") is not None and backend.name != "micromamba":
        raise UnsupportedError(
            "environment=",
            backend.name,
            "it names an environment of micromamba",
            hint="backend='micromamba'; variables are given with env={...}",
        )
    configs = dict(runtime_configs or {})
    options = ContainerOptions(lang=str(config.lang), runtime_configs=configs, **asked)
    bound = backend.with_options(_without_session(options, backend.name), client)
    # A backend that was given as an object has options for sessions, too.
    own = bound.options or options
    configs = {**own.runtime_configs, **configs}
    limits = {
        name: value
        for name, value in configs.items()
        if name in _LIMITS and not (value is None or is_unlimited(value))
    }
    env = {**own.env, **config.env, **options.env}
    timeout = options.execution_timeout or config.execution_timeout
    config = replace(
        apply_runtime_configs(config, limits),
        env=env,
        execution_timeout=timeout or own.execution_timeout,
    )
    return bound.with_libraries(config.libraries), config


def _without_session(options: ContainerOptions, backend: str) -> ContainerOptions:
    """The options without what may differ between sessions that share a backend."""
    kept = _OF_ENVIRONMENTS if backend == "micromamba" else ()
    env = {name: value for name, value in options.env.items() if name.startswith(kept)}
    return replace(options, env=env, execution_timeout=None)
