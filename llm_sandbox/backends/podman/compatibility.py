"""Differences between Docker and Podman in the creation of a container through Docker's API."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from llm_sandbox.exceptions import UnsupportedError

__all__ = ["folder_modes", "to_podman_arguments"]

_SECCOMP: Final = "seccomp="

_EXTRA_MOUNTS: Final = {"/run": "0755", "/var/tmp": "1777"}  # noqa: S108 - inside
"""Paths, with modes, where Podman mounts writable file systems of any size if the root is
read-only."""

_IGNORED: Final = {
    "device_requests": "runtime_configs={'devices': [...]} with a device of the container device "
    "interface",
    "userns_mode": "a rootless engine has a user namespace of its own",
    "volume_driver": "make the volume with `podman volume create --driver`",
}
"""Arguments that Podman, or docker-py for it, ignores, and their alternatives."""


def to_podman_arguments(
    arguments: Mapping[str, Any], *, profile_path: Callable[[str], str], runtime: str | None
) -> dict[str, Any]:
    """Translate the arguments for Docker to those for Podman.

    Args:
        arguments: Arguments of docker-py's ``client.containers.create``; they are not changed.
        profile_path: Returns the path of a file with a seccomp profile on the engine's machine.
        runtime: The engine's container runtime, such as ``crun``.

    Raises:
        UnsupportedError: Podman would ignore one of them.
    """
    changed = dict(arguments)
    _reject_ignored(changed, runtime)
    # Podman expects the path of a file where Docker expects the profile.
    changed["security_opt"] = [
        _SECCOMP + profile_path(option.removeprefix(_SECCOMP))
        if option.startswith(_SECCOMP) and option.removeprefix(_SECCOMP).lstrip().startswith("{")
        else option
        for option in changed.get("security_opt") or ()
    ]
    if changed.get("read_only"):
        taken = _mounted(changed)
        extra = {
            place: f"ro,nosuid,nodev,noexec,size=64k,mode={mode},notmpcopyup"
            for place, mode in _EXTRA_MOUNTS.items()
            if not any(path == place or path.startswith(f"{place}/") for path in taken)
        }
        changed["tmpfs"] = {**extra, **(changed.get("tmpfs") or {})}
    return changed


def folder_modes(tmpfs: Mapping[str, str]) -> dict[str, int]:
    """Return the permissions of file systems in memory, by path, that process 1 has to set.

    Where an image has a folder at the same path, Podman ignores the mode, and uses the permissions
    of that folder; as root owns it, only root could then write.

    Args:
        tmpfs: Mount options by path, as docker-py has them.
    """
    found = {}
    for path, options in tmpfs.items():
        words = dict(word.partition("=")[::2] for word in options.split(","))
        if "mode" in words and "ro" not in words:
            found[path] = int(words["mode"], 8)
    return found


def _reject_ignored(arguments: dict[str, Any], runtime: str | None) -> None:
    wanted = arguments.pop("runtime", None)
    # Podman ignores it in Docker's API, and would silently use another one.
    if wanted is not None and wanted != runtime:
        raise UnsupportedError(
            f"runtime_configs['runtime']={wanted!r}",
            backend="podman",
            reason=f"this Podman service starts every container with {runtime}",
            hint=f"start a service that has it: podman --runtime {wanted} system service, "
            "and name it by CONTAINER_HOST",
        )
    for name, instead in _IGNORED.items():
        if arguments.get(name) and not (name == "userns_mode" and arguments[name] == "host"):
            raise UnsupportedError(
                f"runtime_configs[{name!r}]",
                backend="podman",
                reason="Podman does not hear it through Docker's interface",
                hint=instead,
            )


def _mounted(arguments: Mapping[str, Any]) -> set[str]:
    """Return the mount points of a container."""
    paths = set(arguments.get("tmpfs") or {})
    volumes = arguments.get("volumes") or ()
    if isinstance(volumes, Mapping):
        paths |= {str(bind["bind"]) for bind in volumes.values()}
    else:
        paths |= {str(entry).split(":")[1 if ":" in str(entry) else 0] for entry in volumes}
    paths |= {str(mount["Target"]) for mount in arguments.get("mounts") or ()}
    return {path.rstrip("/") for path in paths}
