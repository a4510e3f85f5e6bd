"""Container options of the caller, checked once."""

import difflib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from llm_sandbox.backends.options.immutable import ImmutableMapping
from llm_sandbox.backends.options.mount_points import (
    MountPoint,
    immutable_mount,
    list_mount_points,
)
from llm_sandbox.backends.options.unsafe_options import (
    UNSAFE,
    find_unsafe_options,
    reject_unsafe_options,
)
from llm_sandbox.exceptions import MissingDependencyError, UnsupportedError, ValidationError
from llm_sandbox.limits import validate_timeout

__all__ = ["ContainerOptions"]

_OUR_LABELS = "llm-sandbox"


_PROTOCOL: Final = "the container's streams carry the session"
_REFUSED: Final = {
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
    "log_config": (_PROTOCOL, "on_stdout= and on_stderr= receive the output of code"),
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
"""Runtime configs that are refused: the reason, and the alternative."""

_BESIDES: Final = ("cpus", "network", "networking_config", "ports", "timeout", "volumes")
"""Names that docker-py's lists lack: those that it translates, and two of this library."""


@dataclass(frozen=True)
class ContainerOptions:
    """Options of a container, copied from the caller; hashable, so that sandboxes with equal
    options can share a backend.

    With an existing container (`container_id`) neither an image, nor mounts, nor runtime configs
    other than ``environment``, ``timeout`` and ``user`` can be given.

    Raises:
        ValidationError: A value is malformed, unknown, or contradicts another.
        UnsupportedError: A runtime config is one that the sandbox decides itself.
        SecurityError: An option weakens the isolation, and is not in `allow_unsafe`.
        MissingDependencyError: Runtime configs need docker-py, which is not installed.
    """

    lang: str = "python"
    """Language of the code, whose image is the default."""
    image: str | None = None
    """Image to use; None (default) for the language's own."""
    dockerfile: str | None = None
    """Path of a Dockerfile, or of a folder that has one, to build the image from; made absolute."""
    container_id: str | None = None
    """Id or name of an existing container to attach to, which is left running."""
    keep_template: bool = False
    """Whether an image built from `dockerfile` is kept; pulled images always are."""
    commit_container: bool = False
    """Whether the container is kept as an image when the session closes."""
    commit_image_tag: str | None = None
    """Name for that image; None for one derived from the image's."""
    runtime_configs: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of docker-py's ``client.containers.create``, passed on to the engine; values of
    None count as not given. ``environment`` and ``timeout`` are moved to `env` and
    `execution_timeout`."""
    mounts: Sequence[Any] = ()
    """`docker.types.Mount` objects, or ``source:/target[:ro]``."""
    allow_unsafe: Sequence[str] = ()
    """Names of runtime configs, or ``mounts``, whose dangerous values are allowed."""
    environment: str | None = None
    """Name of a micromamba environment."""
    env: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Environment variables of the session. Not part of what is compared: a container can serve
    sessions with others."""
    execution_timeout: float | None = field(default=None, compare=False)
    """Seconds that a run may take; None for no limit. Not part of what is compared."""

    def __post_init__(self) -> None:
        self._check_source()
        given = {
            name: value
            for name, value in _mapping(self.runtime_configs, "runtime_configs").items()
            if value is not None
        }
        _check_names(given)
        variables = {**self.env, **_variables(given.pop("environment", {}))}
        timeout = validate_timeout(given.pop("timeout", None), "runtime_configs['timeout']")
        if "security_opt" in given:
            given["security_opt"] = [
                _with_profile(str(entry)) for entry in _list(given["security_opt"])
            ]
        self._set("lang", str(self.lang))
        self._set("env", ImmutableMapping(variables))
        self._set("execution_timeout", timeout or self.execution_timeout)
        self._set("runtime_configs", ImmutableMapping(given, "runtime_configs"))
        self._set("mounts", tuple(immutable_mount(mount) for mount in _list(self.mounts)))
        self._set("allow_unsafe", tuple(sorted(set(_list(self.allow_unsafe)))))
        _check_unsafe_names(self.allow_unsafe, UNSAFE)
        self._check_runtime_configs()
        self.risks()

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def risks(self) -> tuple[str, ...]:
        """Return the names of the unsafe options that were given, and allowed."""
        return reject_unsafe_options(
            find_unsafe_options(self.runtime_configs, self.mount_points()), self.allow_unsafe
        )

    def mount_points(self) -> list[MountPoint]:
        """Return the mount points of the caller."""
        return list_mount_points(self.runtime_configs, self.mounts)

    def _check_source(self) -> None:
        if self.dockerfile is not None:
            self._set("dockerfile", os.path.abspath(os.fspath(self.dockerfile)))
        for name in ("image", "dockerfile", "container_id", "commit_image_tag", "environment"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, str) or not value.strip()):
                raise ValidationError(
                    f"invalid {name}: expected text, got {value!r}", parameter=name
                )
        if self.image is not None and self.dockerfile is not None:
            raise ValidationError(
                "image and dockerfile exclude each other; give one of them",
                parameter="dockerfile",
            )
        if self.commit_image_tag is not None and not self.commit_container:
            raise ValidationError(
                "commit_image_tag names the image that commit_container=True makes",
                parameter="commit_image_tag",
                hint="add commit_container=True",
            )
        if self.container_id is None:
            return
        for name in ("image", "dockerfile", "mounts"):
            if getattr(self, name):
                raise ValidationError(
                    f"{name} cannot be given with container_id: that container exists already",
                    parameter=name,
                    hint=f"leave out {name}, or container_id",
                )
        fixed = set(self.runtime_configs) - {"environment", "timeout", "user"}
        if fixed:
            raise ValidationError(
                f"runtime_configs {', '.join(sorted(fixed))} cannot be given with container_id: "
                "that container exists already",
                parameter="runtime_configs",
                hint="with container_id only environment, timeout and user have a meaning",
            )

    def _check_runtime_configs(self) -> None:
        given = self.runtime_configs
        names = [name for name in ("network", "network_mode") if name in given]
        if len(names) > 1:
            raise ValidationError(
                "network and network_mode both name the network; give one of them",
                parameter="runtime_configs",
            )
        processors = [
            name for name in ("cpus", "cpu_count", "nano_cpus", "cpu_quota") if name in given
        ]
        if len(processors) > 1:
            raise ValidationError(
                f"{' and '.join(processors)} all limit the processor time; give one of them",
                parameter="runtime_configs",
            )
        for label in given.get("labels", ()):
            if str(label).partition("=")[0].partition(".")[0] == _OUR_LABELS:
                raise ValidationError(
                    f"the label {label!r} is one of the library's own", parameter="runtime_configs"
                )


def _mapping(value: object, name: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ValidationError(f"{name} is a mapping of names to values", parameter=name)
    return value


def _list(value: object) -> Sequence[Any]:
    if value is None:
        return ()
    if isinstance(value, list | tuple):
        return value
    return (value,)


def _variables(value: object) -> dict[str, str]:
    """Return the variables of ``environment``, a mapping or a list of ``NAME=value``."""
    if isinstance(value, list | tuple):
        pairs = {str(entry).partition("=")[0]: str(entry).partition("=")[2] for entry in value}
        wrong = [str(entry) for entry in value if "=" not in str(entry)]
    elif isinstance(value, Mapping):
        pairs = {str(name): str(text) for name, text in value.items()}
        wrong = [str(name) for name, text in value.items() if text is None]
    else:
        raise ValidationError(
            "environment is a mapping, or a list of 'NAME=value'", parameter="runtime_configs"
        )
    wrong += [name for name in pairs if not name or "=" in name or "\0" in name + pairs[name]]
    if wrong:
        raise ValidationError(
            f"invalid environment: expected variables with values, got {wrong[0]!r}",
            parameter="runtime_configs",
        )
    return pairs


def _with_profile(option: str) -> str:
    """Replace the path of a seccomp profile by its text, as Docker's command line does."""
    name, _, value = option.partition("=")
    if name != "seccomp" or value in ("unconfined", "builtin") or value.startswith("{"):
        return option
    try:
        text = Path(value).read_text(encoding="utf-8")
        return f"seccomp={json.dumps(json.loads(text), separators=(',', ':'))}"
    except (OSError, ValueError) as error:
        raise ValidationError(
            f"the seccomp profile {value!r} cannot be read: {error}", parameter="runtime_configs"
        ) from None


@cache
def _known() -> frozenset[str]:
    try:
        # The package before its part: another thread may be loading it, and needs that part.
        import docker  # noqa: F401
        from docker.models.containers import RUN_CREATE_KWARGS, RUN_HOST_CONFIG_KWARGS
    except ImportError:
        raise MissingDependencyError("container engines need docker-py", extra="docker") from None
    return frozenset([*RUN_CREATE_KWARGS, *RUN_HOST_CONFIG_KWARGS, *_BESIDES]).difference(_REFUSED)


def _check_names(given: Iterable[str]) -> None:
    """Reject runtime configs that do not exist, and those that a sandbox sets itself.

    Raises:
        UnsupportedError: The sandbox sets one itself.
        ValidationError: One is unknown.
        MissingDependencyError: docker-py is not installed.
    """
    for name in given:
        if name in _REFUSED:
            reason, instead = _REFUSED[name]
            raise UnsupportedError(
                f"runtime_configs[{name!r}]", reason=reason, hint=instead and f"use {instead}"
            )
        if name not in _known():
            raise ValidationError(
                f"there is no runtime config {name!r}",
                parameter="runtime_configs",
                hint=_nearest(name, _known()),
            )


def _check_unsafe_names(given: Iterable[str], known: Iterable[str]) -> None:
    """Reject unknown names in `allow_unsafe`.

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
