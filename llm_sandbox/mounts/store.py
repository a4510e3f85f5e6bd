"""Store of volumes: a private folder of this user with one folder for each volume."""

# ruff: noqa: PTH112
# Because: paths come as text, from the environment and from what a folder has.

import contextlib
import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from llm_sandbox.exceptions import (
    FileError,
    SandboxFileExistsError,
    SandboxFileNotFoundError,
    SecurityError,
)
from llm_sandbox.host.paths import user_folder

__all__ = ["VolumeStore"]

_FILES, _LOCK = "files", "lock"
_GOING = ".removed-"
_PRIVATE = 0o700


class VolumeStore:
    """Store of this user's volumes.

    Each is ``NAME/files``, with a ``NAME/lock`` that the process of a sandbox holds while the
    sandbox uses the volume, so that no cleanup is needed after a crash.

    Args:
        path: Folder of all volumes; None for ``volumes`` in this library's data folder.

    Raises:
        SecurityError: Other users can access the folder.
        FileError: The folder cannot be created.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or user_folder("XDG_DATA_HOME", ".local/share") / "volumes"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=_PRIVATE)
            with contextlib.suppress(FileExistsError):
                self.path.mkdir(mode=_PRIVATE)
            found = self.path.lstat()
        except OSError as error:
            raise FileError(
                f"volumes are kept in {self.path}, which cannot be made: {error.strerror}",
                path=str(self.path),
                hint="name a folder that can be written: XDG_DATA_HOME",
            ) from None
        private = found.st_uid == os.geteuid() and not stat.S_IMODE(found.st_mode) & 0o077
        if not stat.S_ISDIR(found.st_mode) or not private:
            raise SecurityError(
                f"volumes are kept in {self.path}, which is not a folder of this user's alone",
                hint=f"look at it, and make it so: chmod 700 {self.path}",
            )

    def names(self) -> list[str]:
        """Return the names of all volumes, sorted."""
        return sorted(
            entry.name
            for entry in os.scandir(self.path)
            if not entry.name.startswith(".") and os.path.isdir(f"{entry.path}/{_FILES}")
        )

    def make(self, name: str, *, exist_ok: bool) -> None:
        """Create a volume.

        Raises:
            SandboxFileExistsError: The volume exists, and `exist_ok` is False.
        """
        folder = self.path / name
        folder.mkdir(mode=_PRIVATE, exist_ok=True)
        try:
            # Others cannot pass the folder above; a user inside needs no more than this.
            (folder / _FILES).mkdir(mode=0o755)
        except FileExistsError:
            if not exist_ok:
                raise SandboxFileExistsError(
                    f"there is a volume {name!r} already", path=name, hint="exist_ok=True takes it"
                ) from None

    def folder(self, name: str) -> Path:
        """Return the folder with the files of a volume.

        Raises:
            SandboxFileNotFoundError: The volume does not exist.
        """
        folder = self.path / name / _FILES
        if not folder.is_dir():
            raise self._unknown(name)
        return folder

    def hold(self, name: str) -> int:
        """Create a volume if necessary, and protect it from deletion until the returned descriptor
        is closed.

        Raises:
            FileError: The volume is being deleted.
        """
        self.make(name, exist_ok=True)
        descriptor = self._open_lock(name)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            self.folder(name)
        except (BlockingIOError, SandboxFileNotFoundError):
            os.close(descriptor)
            raise FileError(f"the volume {name!r} is just being removed", path=name) from None
        return descriptor

    def remove(self, name: str) -> None:
        """Delete a volume with its files.

        Raises:
            FileError: A sandbox uses the volume, or a file cannot be deleted.
            SandboxFileNotFoundError: The volume does not exist.
        """
        self.folder(name)
        with self._locked(name):
            going = self.path / f"{_GOING}{name}-{os.urandom(4).hex()}"
            (self.path / name).rename(going)
        try:
            # Follows no link, whatever sandboxes have put there.
            shutil.rmtree(going)
        except OSError as error:
            raise FileError(
                f"the volume {name!r} is gone, but for {going}: {error.strerror}",
                path=str(going),
                hint="remove that as the user that its files belong to",
            ) from None

    @contextlib.contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        descriptor = self._open_lock(name)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            raise FileError(
                f"the volume {name!r} belongs to a sandbox that lives",
                path=name,
                hint="end that first: llm-sandbox ps shows those that are kept",
            ) from None
        finally:
            os.close(descriptor)

    def _open_lock(self, name: str) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            return os.open(self.path / name / _LOCK, flags, 0o600)
        except FileNotFoundError:
            raise self._unknown(name) from None

    def _unknown(self, name: str) -> SandboxFileNotFoundError:
        return SandboxFileNotFoundError(
            f"there is no volume {name!r}", path=name, hint="llm-sandbox volumes lists them"
        )
