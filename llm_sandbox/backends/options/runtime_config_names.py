"""Which runtime configs there are: docker-py's own, less those that a sandbox decides itself."""

import difflib
from collections.abc import Iterable
from functools import cache
from typing import Final

from llm_sandbox.exceptions import MissingDependencyError, UnsupportedError, ValidationError

__all__ = ["check_names", "check_unsafe_names"]

_PROTOCOL: Final = "the container's streams carry the session"
_OWN: Final = {
    "auto_remove": ("containers always end with their session", "commit_container=True keeps one"),
    "command": ("process 1 is the sandbox's own", "run programs with execute_command"),
    "cpu_percent": ("engines have it on Windows only", "runtime_configs={'cpus': 1.5}"),
    "detach": (_PROTOCOL, None),
    "entrypoint": ("process 1 is the sandbox's own", "run programs with execute_command"),
    "group_add": ("code runs with one group", "runtime_configs={'user': 'uid:gid'}"),
    "image": ("it has a parameter of its own", "image=..."),
    "init": ("process 1 is the sandbox's own, and reaps", None),
    "init_path": ("process 1 is the sandbox's own, and reaps", None),
    "isolation": ("engines have it on Windows only", "runtime_configs={'runtime': 'runsc'}"),
    "log_config": (_PROTOCOL, "on_stdout= and on_stderr= hear what code writes"),
    "remove": ("containers always end with their session", "commit_container=True keeps one"),
    "restart_policy": ("containers end with their session", None),
    "stderr": (_PROTOCOL, None),
    "stdin_open": (_PROTOCOL, None),
    "stdout": (_PROTOCOL, None),
    "stream": (_PROTOCOL, "stream=True, or on_stdout="),
    "tty": (_PROTOCOL, None),
    "use_config_proxy": (
        "variables are named one by one",
        "runtime_configs={'environment': {'HTTPS_PROXY': ...}}",
    ),
    "version": ("the client knows its engine's", None),
    "working_dir": ("it has a parameter of its own", "workdir=..."),
}
"""Names that are refused: why, and what to write instead."""

_BESIDES: Final = ("cpus", "network", "networking_config", "ports", "timeout", "volumes")
"""Names that docker-py's lists lack: those that it splits up itself, and two of ours."""


@cache
def _known() -> frozenset[str]:
    try:
        # The package before its part: another thread may be loading it, and needs that part.
        import docker  # noqa: F401
        from docker.models.containers import RUN_CREATE_KWARGS, RUN_HOST_CONFIG_KWARGS
    except ImportError:
        raise MissingDependencyError("container engines need docker-py", extra="docker") from None
    return frozenset([*RUN_CREATE_KWARGS, *RUN_HOST_CONFIG_KWARGS, *_BESIDES]).difference(_OWN)


def check_names(given: Iterable[str]) -> None:
    """Refuse runtime configs that do not exist, and those that a sandbox decides itself.

    Raises:
        UnsupportedError: One is decided by the sandbox.
        ValidationError: One is unknown.
        MissingDependencyError: docker-py is not installed.
    """
    for name in given:
        if name in _OWN:
            reason, instead = _OWN[name]
            raise UnsupportedError(
                f"runtime_configs[{name!r}]", reason=reason, hint=instead and f"use {instead}"
            )
        if name not in _known():
            raise ValidationError(
                f"there is no runtime config {name!r}",
                parameter="runtime_configs",
                hint=_nearest(name, _known()),
            )


def check_unsafe_names(given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse names in `allow_unsafe` that stand for nothing.

    Raises:
        ValidationError: One is not known.
    """
    choice = sorted(known)
    for name in given:
        if name not in choice:
            raise ValidationError(
                f"allow_unsafe has no {name!r}; it may name: {', '.join(choice)}",
                parameter="allow_unsafe",
                hint=_nearest(name, choice),
            )


def _nearest(name: str, known: Iterable[str]) -> str | None:
    close = difflib.get_close_matches(name, sorted(known), n=1)
    return f"did you mean {close[0]!r}?" if close else None
