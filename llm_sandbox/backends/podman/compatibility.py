"""What Podman wants said differently when a container is made through Docker's interface."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from llm_sandbox.exceptions import UnsupportedError

__all__ = ["folder_modes", "to_podman_arguments"]

_SECCOMP: Final = "seccomp="

_EXTRA_PLACES: Final = {"/run": "0755", "/var/tmp": "1777"}  # noqa: S108 - inside
"""Where Podman puts writable file systems without a size of their own, when the root is read-only;
with their modes."""

_UNHEARD: Final = {
    "device_requests": "runtime_configs={'devices': [...]} with a device of the container device "
    "interface",
    "userns_mode": "a rootless engine has a user namespace of its own",
    "volume_driver": "make the volume with `podman volume create --driver`",
}
"""Arguments that Podman, or docker-py for it, takes without doing anything; and what to do."""


def to_podman_arguments(
    arguments: Mapping[str, Any], *, profile_path: Callable[[str], str], runtime: str | None
) -> dict[str, Any]:
    """Translate the arguments of a container that was described for Docker.

    Args:
        arguments: Of docker-py's ``client.containers.create``; left as they are.
        profile_path: Takes a seccomp profile, and returns the path of a file with it on the
            engine's machine.
        runtime: What the engine starts containers with, such as ``crun``.

    Raises:
        UnsupportedError: Podman would pass over one of them.
    """
    changed = dict(arguments)
    _refuse_unheard(changed, runtime)
    # Podman takes what follows for the path of a file, where Docker wants the profile itself.
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
            for place, mode in _EXTRA_PLACES.items()
            if not any(path == place or path.startswith(f"{place}/") for path in taken)
        }
        changed["tmpfs"] = {**extra, **(changed.get("tmpfs") or {})}
    return changed


def folder_modes(tmpfs: Mapping[str, str]) -> dict[str, int]:
    """Permissions of file systems in memory, by their path, that process 1 has to set.

    Where an image has a folder at the same path, the engine gives the file system the permissions
    of that folder, and not those it was told; and they are of root, who alone could then write.

    Args:
        tmpfs: Path to mount options, as docker-py has it.
    """
    found = {}
    for path, options in tmpfs.items():
        words = dict(word.partition("=")[::2] for word in options.split(","))
        if "mode" in words and "ro" not in words:
            found[path] = int(words["mode"], 8)
    return found


def _refuse_unheard(arguments: dict[str, Any], runtime: str | None) -> None:
    wanted = arguments.pop("runtime", None)
    # Docker's interface has no effect here: the engine would start another one, and not say so.
    if wanted is not None and wanted != runtime:
        raise UnsupportedError(
            f"runtime_configs['runtime']={wanted!r}",
            backend="podman",
            reason=f"this Podman service starts every container with {runtime}",
            hint=f"start a service that has it: podman --runtime {wanted} system service, "
            "and name it by CONTAINER_HOST",
        )
    for name, instead in _UNHEARD.items():
        if arguments.get(name) and not (name == "userns_mode" and arguments[name] == "host"):
            raise UnsupportedError(
                f"runtime_configs[{name!r}]",
                backend="podman",
                reason="Podman does not hear it through Docker's interface",
                hint=instead,
            )


def _mounted(arguments: Mapping[str, Any]) -> set[str]:
    """Paths inside at which something is mounted."""
    paths = set(arguments.get("tmpfs") or {})
    volumes = arguments.get("volumes") or ()
    if isinstance(volumes, Mapping):
        paths |= {str(bind["bind"]) for bind in volumes.values()}
    else:
        paths |= {str(entry).split(":")[1 if ":" in str(entry) else 0] for entry in volumes}
    paths |= {str(mount["Target"]) for mount in arguments.get("mounts") or ()}
    return {path.rstrip("/") for path in paths}
