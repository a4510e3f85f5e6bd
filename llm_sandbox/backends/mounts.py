"""What is mounted, judged and found on this computer: the same for every backend."""

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
    """A folder or file of this computer that is to be seen inside."""

    target: str
    """Where."""
    source: str
    """Its path, without links."""
    read_only: bool
    """Whether it cannot be written."""
    owner: tuple[int, int]
    """User and group that it belongs to."""
    is_folder: bool
    """Whether it is a folder."""
    mode: int
    """Its permissions."""
    volume: str | None = None
    """Name of the volume that it is; None for a folder that was named itself."""

    @property
    def is_open_to_all(self) -> bool:
        """Whether any user may do there what is asked."""
        wanted = (stat.S_IROTH, stat.S_IWOTH)[: 1 if self.read_only else 2]
        needed = sum(wanted) | (stat.S_IXOTH if self.is_folder else 0)
        return self.mode & needed == needed

    def mapped(self, target: str, seen: tuple[int, int]) -> MappedFolder:
        """What to mount so that its owner is another user inside.

        Args:
            target: Where.
            seen: That user, and its group.
        """
        return MappedFolder(self.source, target, self.owner, seen, self.read_only)

    def __str__(self) -> str:
        origin = self.source if self.volume is None else f"volume {self.volume}"
        return f"{self.target} ({origin}, {'read-only' if self.read_only else 'writable'})"


def find_mounts(mounts: Mapping[str, Mount]) -> list[HostMount]:
    """Return those of the mounts that are folders or files of this computer; volumes are made.

    Raises:
        SecurityError: One would give away what nobody should, and is not said to be dangerous.
        ValidationError: There is nothing at a path.
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
    """Return path inside to size in bytes of those of the mounts that are memory."""
    return {t: mount.size_bytes for t, mount in mounts.items() if isinstance(mount, Tmpfs)}


def writes_to_host(mounts: Mapping[str, Mount]) -> bool:
    """Whether what code makes is a file of this computer at once, with the bits that it has."""
    return any(not isinstance(mount, Tmpfs) and not mount.read_only for mount in mounts.values())


@contextlib.contextmanager
def hold_volumes(mounts: Mapping[str, Mount]) -> Iterator[list[int]]:
    """Keep volumes from being removed.

    Yields:
        Descriptors to close when the sandbox has ended; they are closed here if the block fails.

    Raises:
        FileError: One is just being removed.
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
    """Refuse all mounts and graphics processors, where a backend has none.

    Raises:
        UnsupportedError: There are some.
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
    """Return the error for a mount point whose path has a link that a program may have made.

    Args:
        where: Which part of which path.
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
            f"there is no {source} on this machine, which was to be mounted at {target}",
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
