"""Validation of mount points."""

from collections.abc import Mapping
from typing import Final

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.mounts.kinds import Bind, Mount, Tmpfs
from llm_sandbox.mounts.volume import Volume

__all__ = ["check_mounts"]

_OF_THE_SYSTEM: Final = (
    *("bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32"),
    *("opt", "proc", "sbin", "sys", "usr"),
)
"""Top-level folders with programs, devices, or files of the sandbox itself."""
_TAKEN: Final = {
    "/": "it would hide everything",
    "/run": "programs and the sandbox keep sockets there",
    "/tmp": "its size is limits.tmp_bytes",  # noqa: S108 - inside
    "/var": "programs of the system keep their state there",
    "/var/tmp": "it may be a link to /tmp",  # noqa: S108 - inside
}
_MOST: Final = 64
_LONGEST: Final = 1024


def check_mounts(mounts: object, workdir: str) -> dict[str, Mount]:
    """Return valid mounts by normalised path, sorted.

    Args:
        mounts: `Bind`, `Volume` or `Tmpfs` by path in the sandbox; None for none.
        workdir: Normalised working directory of the sandbox.

    Raises:
        ValidationError: A mount has the wrong type, would hide files that the sandbox needs, or
            lies within another.
    """
    if mounts is None:
        return {}
    if not isinstance(mounts, Mapping):
        raise _bad("mounts is a mapping of paths inside to Bind, Volume or Tmpfs")
    if len(mounts) > _MOST:
        raise _bad(f"mounts has {len(mounts)} entries; {_MOST} are possible")
    checked: dict[str, Mount] = {}
    for target, mount in mounts.items():
        if not isinstance(mount, Bind | Volume | Tmpfs):
            raise _bad(f"{target!r} is given neither a Bind, a Volume nor a Tmpfs")
        path = _check_target(target, workdir)
        if path in checked:
            raise _bad(f"two mounts have the place {path}")
        checked[path] = mount
    for path in checked:
        for other in checked:
            if path.startswith(f"{other}/"):
                raise _bad(f"the mount at {path} lies within the one at {other}")
    named = [mount.name for mount in checked.values() if isinstance(mount, Volume)]
    for name in named:
        if named.count(name) > 1:
            raise _bad(f"the volume {name!r} is mounted twice")
    return dict(sorted(checked.items()))


def _check_target(target: object, workdir: str) -> str:
    if not isinstance(target, str) or not target.startswith("/") or "\0" in target:
        raise _bad(f"the place of a mount is an absolute path inside, not {target!r}")
    names = [name for name in target.split("/") if name not in ("", ".")]
    path = "/" + "/".join(names)
    if ".." in names or len(path) > _LONGEST:
        raise _bad(f"the place of a mount has no '..' and {_LONGEST} characters at most: {path!r}")
    if "," in path or ":" in path:
        raise _bad(f"engines cannot mount at {path!r}: ',' and ':' mean something else to them")
    if path in _TAKEN:
        raise _bad(f"nothing can be mounted at {path}: {_TAKEN[path]}")
    if names[0] in _OF_THE_SYSTEM:
        raise _bad(f"nothing can be mounted below /{names[0]}: the sandbox's own programs need it")
    if workdir.startswith(f"{path}/"):
        raise _bad(f"nothing can be mounted at {path}: the working directory {workdir} lies in it")
    return path


def _bad(message: str) -> ValidationError:
    return ValidationError(
        message, parameter="mounts", hint="mounts={'/data': Bind('/folder/of/this/computer')}"
    )
