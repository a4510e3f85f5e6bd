"""Mounts of folders, files and volumes of this computer: checks that all backends share."""

import contextlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from llm_sandbox.backends.hardening.idmap import MappedFolder
from llm_sandbox.backends.host_paths import path_risk
from llm_sandbox.exceptions import SecurityError, UnsupportedError, ValidationError
from llm_sandbox.mounts import Bind, Mount, Tmpfs, Volume
from llm_sandbox.mounts.store import VolumeStore

__all__ = [
    "HostMount",
    "find_mounts",
    "hold_volumes",
    "linked_mount",
    "refuse_mounts",
    "sizes",
    "writes_to_host",
]


@dataclass(frozen=True)
class HostMount:
    """Folder or file of this computer to be mounted."""

    target: str
    """Mount point inside."""
    source: str
    """Path on this computer, without links."""
    read_only: bool
    """Whether the mount is read-only."""
    owner: tuple[int, int]
    """User and group that own it."""
    is_folder: bool
    """Whether it is a folder, not a file."""
    mode: int
    """Permissions."""
    volume: str | None = None
    """Name of the volume; None for a path of the caller."""

    @property
    def is_open_to_all(self) -> bool:
        """Whether every user may access it as the mount needs."""
        wanted = (stat.S_IROTH, stat.S_IWOTH)[: 1 if self.read_only else 2]
        needed = sum(wanted) | (stat.S_IXOTH if self.is_folder else 0)
        return self.mode & needed == needed

    def mapped(self, target: str, seen: tuple[int, int]) -> MappedFolder:
        """Return the idmapped mount in which its owner appears as another user.

        Args:
            target: Mount point.
            seen: That user, and its group.
        """
        return MappedFolder(self.source, target, self.owner, seen, self.read_only)

    def __str__(self) -> str:
        origin = self.source if self.volume is None else f"volume {self.volume}"
        return f"{self.target} ({origin}, {'read-only' if self.read_only else 'writable'})"


def find_mounts(mounts: Mapping[str, Mount]) -> list[HostMount]:
    """Return the mounts that are folders or files of this computer; missing volumes are created.

    Raises:
        SecurityError: A mount would expose a sensitive path, without ``dangerous=True``.
        ValidationError: A path does not exist.
    """
    store = None
    found = []
    for target, mount in mounts.items():
        if isinstance(mount, Bind):
            found.append(_find(target, mount))
        elif isinstance(mount, Volume):
            store = store or VolumeStore()
            store.make(mount.name, exist_ok=True)
            folder = os.path.realpath(store.folder(mount.name))
            found.append(_describe(target, folder, mount.read_only, mount.name))
    return found


def sizes(mounts: Mapping[str, Mount]) -> dict[str, int]:
    """Return the mounts of memory: path inside to size in bytes."""
    return {t: mount.size_bytes for t, mount in mounts.items() if isinstance(mount, Tmpfs)}


def writes_to_host(mounts: Mapping[str, Mount]) -> bool:
    """Return whether code can create files on this computer, with their mode bits."""
    return any(not isinstance(mount, Tmpfs) and not mount.read_only for mount in mounts.values())


@contextlib.contextmanager
def hold_volumes(mounts: Mapping[str, Mount]) -> Iterator[list[int]]:
    """Hold volumes, which cannot be removed meanwhile.

    Yields:
        Descriptors to close when the sandbox has ended; they are closed here if the block fails.

    Raises:
        FileError: A volume is being removed.
    """
    held: list[int] = []
    try:
        for mount in mounts.values():
            if isinstance(mount, Volume):
                held += [VolumeStore().hold(mount.name)]
        yield held
    except BaseException:
        while held:
            os.close(held.pop())
        raise


def refuse_mounts(mounts: Mapping[str, Mount], gpu: object, backend: str, reason: str) -> None:
    """Refuse mounts and graphics processors for a backend without them.

    Raises:
        UnsupportedError: A mount or a graphics processor is requested.
    """
    for target, mount in mounts.items():
        raise UnsupportedError(
            f"mounts={{{target!r}: {type(mount).__name__}(...)}}",
            backend,
            reason,
            hint="use the bubblewrap, docker or podman backend, or sandbox.files.upload",
        )
    if gpu is not None:
        raise UnsupportedError(
            f"gpu={gpu!r}",
            backend,
            "its sandboxes have no devices",
            hint="use the docker or podman backend on a machine whose engine has graphics "
            "processors",
        )


def linked_mount(where: str) -> SecurityError:
    """Return the error for a link in the path of a mount point, perhaps made by a program.

    Args:
        where: The part of the path that is a link.
    """
    return SecurityError(
        f"the snapshot or image has a link in the path of a mount: {where}. What ran before may "
        "have put it there, so that the mount would cover something else",
        op="create",
        hint="mount at another path, choose another workdir=, or begin from another snapshot",
    )


def _find(target: str, bind: Bind) -> HostMount:
    source = str(bind.source)
    if not bind.dangerous:
        danger = path_risk(source, writable=not bind.read_only) or _odd_kind(source)
        if danger is not None:
            how = "" if bind.read_only else "read_only=False, "
            raise SecurityError(
                f"{source} is not mounted at {target}: {danger}",
                op="configure",
                hint=f"to take that risk, say so: Bind({source!r}, {how}dangerous=True)",
                context={"parameter": "mounts"},
            )
    try:
        path = os.path.realpath(source, strict=True)
        return _describe(target, path, bind.read_only, None)
    except (FileNotFoundError, NotADirectoryError):
        raise ValidationError(
            f"the source of the mount at {target} does not exist: {source}",
            parameter="mounts",
            hint=f"make it first: mkdir -p {source}",
        ) from None
    except OSError as error:  # not this user's, links in a circle, too long
        raise ValidationError(
            f"{source} cannot be mounted at {target}: {error.strerror}",
            parameter="mounts",
            hint="name a folder or file that this user can reach",
        ) from None


def _odd_kind(source: str) -> str | None:
    try:
        kind = os.stat(source).st_mode
    except OSError:
        return None
    if stat.S_ISDIR(kind) or stat.S_ISREG(kind):
        return None
    return "it is neither a folder nor a file"


def _describe(target: str, path: str, read_only: bool, volume: str | None) -> HostMount:
    status = os.stat(path)
    return HostMount(
        target,
        path,
        read_only,
        (status.st_uid, status.st_gid),
        stat.S_ISDIR(status.st_mode),
        stat.S_IMODE(status.st_mode),
        volume,
    )
