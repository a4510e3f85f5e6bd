"""Mount points of the caller: volumes, mounts and memory, in all their notations."""

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from llm_sandbox.backends.options.immutable import ImmutableMapping
from llm_sandbox.backends.python_environment import GUEST_ROOT, LAYERS_ROOT
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.limits import Limits

__all__ = ["MountPoint", "bind_strings", "immutable_mount", "list_mount_points", "tmpfs_options"]

_MODES = {"": False, "rw": False, "ro": True}


@dataclass(frozen=True)
class MountPoint:
    """A mount point of the caller in a container."""

    option: Literal["volumes", "mounts", "tmpfs"]
    """Option that names it."""
    target: str
    """Path in the container, normalised."""
    source: str | None = None
    """Path on the engine's machine, absolute; None for volumes and memory."""
    read_only: bool = False
    """Whether it is read-only."""
    size_bytes: int | None = None
    """Its size in bytes; None for no limit."""

    @property
    def is_unlimited(self) -> bool:
        """Whether code can fill the disk of the engine's machine through it."""
        return not self.read_only and self.size_bytes is None

    def __str__(self) -> str:
        origin = self.source or {"tmpfs": "memory"}.get(self.option, "a volume")
        return f"{self.target} ({origin}, {'read-only' if self.read_only else 'writable'})"


def immutable_mount(mount: object) -> ImmutableMapping:
    """Return a mount as the mapping that `docker.types.Mount` is.

    Args:
        mount: One of those, or ``source:target`` with ``:ro`` or ``:rw`` behind it. A source with a
            slash in front is a path of the engine's machine, any other the name of a volume.

    Raises:
        ValidationError: It is neither.
    """
    if isinstance(mount, str):
        source, _, rest = mount.partition(":")
        target, _, mode = rest.partition(":")
        if not source or not target.startswith("/") or mode not in _MODES:
            raise _bad(f"write a mount as 'source:/target' or 'source:/target:ro', not {mount!r}")
        if source.startswith((".", "~")) or ("/" in source and not source.startswith("/")):
            raise _bad(f"the source of the mount {mount!r} must be an absolute path")
        kind = "bind" if source.startswith("/") else "volume"
        mount = {"Target": target, "Source": source, "Type": kind, "ReadOnly": _MODES[mode]}
    if not isinstance(mount, Mapping) or not mount.get("Target"):
        raise _bad(f"a mount is a docker.types.Mount or 'source:/target', not {mount!r}")
    return ImmutableMapping(mount, "mounts")


def bind_strings(volumes: object) -> list[str]:
    """Return docker-py's ``volumes``, a mapping or a list, as ``source:target:mode``.

    Raises:
        ValidationError: It is neither, or an entry lacks its target.
    """
    if isinstance(volumes, Mapping):
        return [_bind_string(source, given) for source, given in volumes.items()]
    if isinstance(volumes, Sequence) and not isinstance(volumes, str):
        return [str(entry) for entry in volumes]
    raise ValidationError("volumes must be a mapping or a list", parameter="runtime_configs")


def _bind_string(source: str, given: object) -> str:
    if not isinstance(given, Mapping):
        return f"{source}:{given}:rw"
    if "bind" not in given:
        raise ValidationError(
            f"volumes[{source!r}] has no 'bind', the path in the container",
            parameter="runtime_configs",
        )
    mode = given.get("mode") or ("ro" if given.get("ro") else "rw")
    return ":".join(
        (source, given["bind"], ",".join(filter(None, (mode, given.get("propagation")))))
    )


def tmpfs_options(tmpfs: object) -> dict[str, str]:
    """Return docker-py's ``tmpfs``, a mapping or a list, as path to mount options.

    Raises:
        ValidationError: It is neither.
    """
    if isinstance(tmpfs, Mapping):
        return {_clean(path): str(options or "") for path, options in tmpfs.items()}
    if isinstance(tmpfs, Sequence) and not isinstance(tmpfs, str):
        pairs = (str(entry).partition(":") for entry in tmpfs)
        return {_clean(path): options for path, _, options in pairs}
    raise ValidationError("tmpfs must be a mapping or a list", parameter="runtime_configs")


def list_mount_points(
    runtime_configs: Mapping[str, Any], mounts: Sequence[Mapping[str, Any]]
) -> list[MountPoint]:
    """Return all mount points of the caller.

    Args:
        runtime_configs: With ``volumes``, ``mounts`` and ``tmpfs``, each optional.
        mounts: Further mounts, immutable.

    Raises:
        ValidationError: One is malformed, or would hide the sandbox's own code.
    """
    found = [_from_bind(entry) for entry in bind_strings(runtime_configs.get("volumes", ()))]
    asked = [immutable_mount(mount) for mount in runtime_configs.get("mounts", ())]
    found += [_from_mount(mount) for mount in (*asked, *mounts)]
    for path, options in tmpfs_options(runtime_configs.get("tmpfs", ())).items():
        found.append(MountPoint("tmpfs", path, None, _has(options, "ro"), _size(options)))
    for mount_point in found:
        target = mount_point.target
        if not target.startswith("/"):
            raise _bad(f"the target {target!r} must be an absolute path in the container")
        for own, what in ((GUEST_ROOT, "its own code"), (LAYERS_ROOT, "installed libraries")):
            inside = f"{target.rstrip('/')}/"
            if f"{own}/".startswith(inside) or inside.startswith(f"{own}/"):
                raise _bad(f"the target {target!r} is where the sandbox keeps {what}")
    return found


def _from_bind(entry: str) -> MountPoint:
    source, _, rest = entry.partition(":")
    target, _, mode = rest.partition(":")
    if not target:  # an anonymous volume
        return MountPoint("volumes", _clean(source))
    path = _clean(source) if source.startswith(("/", ".", "~")) else None
    return MountPoint("volumes", _clean(target), path, _has(mode, "ro"))


def _from_mount(mount: Mapping[str, Any]) -> MountPoint:
    kind = mount.get("Type", "volume")
    source = mount.get("Source") if kind == "bind" else None
    size = None
    if kind == "tmpfs":
        size = (mount.get("TmpfsOptions") or {}).get("SizeBytes")
    if kind == "volume":
        # A local volume can be a folder of the machine under another name.
        driver = (mount.get("VolumeOptions") or {}).get("DriverConfig") or {}
        device = (driver.get("Options") or {}).get("device")
        source = device if str(device or "").startswith("/") else None
    path = None if source is None else _clean(str(source))
    read_only = bool(mount.get("ReadOnly"))
    return MountPoint("mounts", _clean(str(mount["Target"])), path, read_only, size)


def _clean(path: str) -> str:
    # A path may begin with two slashes, and keeps them.
    clean = posixpath.normpath(path)
    return clean[1:] if clean.startswith("//") else clean


def _has(options: str, wanted: str) -> bool:
    return wanted in options.split(",")


def _size(options: str) -> int | None:
    for option in options.split(","):
        name, _, value = option.partition("=")
        if name == "size" and not value.endswith("%"):
            return Limits.parse_size(value, "tmpfs")
    return None


def _bad(message: str) -> ValidationError:
    return ValidationError(message, parameter="mounts")
