"""Files of a machine in which tests run, one after the other, each as if it were the first."""

from __future__ import annotations

import contextlib
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_MOST_LEFT = 2000
_IPC = ("msg", "sem", "shm")
_DEEPEST = 64


class DirtyError(OSError):
    """Files of a test that cannot be removed, or not soon."""


class Workspace:
    """Working directory and temporary folders of a machine.

    Args:
        folders: All folders that tests may write to, the working directory first. What is in them
            by now stays.

    Attributes:
        files: Content and mode of the files that every test finds, by relative path.
    """

    def __init__(self, folders: Sequence[str]) -> None:
        self.workdir = folders[0]
        self.files: dict[str, tuple[bytes, int]] = {}
        self._folders = {folder: frozenset(os.listdir(folder)) for folder in folders}
        self._inputs = 0

    def path(self, name: str) -> str:
        """Return the path of a file of the working directory."""
        return os.path.join(self.workdir, name)

    def write(self, files: dict[str, tuple[bytes, int]]) -> None:
        """Write the files that every test finds, and others, which come first."""
        for name, (data, mode) in (self.files | files).items():
            path = self.path(name)
            if "/" in name:
                os.makedirs(os.path.dirname(path), exist_ok=True)
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
            with open(fd, "wb", buffering=0) as file:
                _write_all(file.fileno(), data)
                if mode != 0o644:
                    os.fchmod(fd, mode)

    def open_input(self, data: bytes) -> int:
        """Return a descriptor that reads an input, of a file without a name."""
        path = f"/tmp/.input-{self._inputs}"  # noqa: S108 - of this machine
        self._inputs += 1
        write = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            _write_all(write, data)
            return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        finally:
            os.close(write)
            os.unlink(path)

    def read(self, name: str, limit: int) -> bytes:
        """Return the content of a file, at most `limit` bytes; empty if it is none."""
        try:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            fd = os.open(self.path(name), flags)
        except OSError:
            return b""
        with open(fd, "rb") as file:
            return file.read(limit) if stat.S_ISREG(os.fstat(fd).st_mode) else b""

    def keep_products(self, limit: int) -> None:
        """Make the files that a compiler has made files that every test finds.

        Args:
            limit: Most bytes of them.

        Raises:
            DirtyError: They are more.
        """
        for folder, _, names in os.walk(self.workdir):
            for name in names:
                path = os.path.join(folder, name)
                relative = os.path.relpath(path, self.workdir)
                facts = os.lstat(path)
                if relative in self.files or not stat.S_ISREG(facts.st_mode):
                    continue
                limit -= facts.st_size
                if limit < 0:
                    raise DirtyError("the compiler's files are over the limit")
                with open(path, "rb") as file:
                    self.files[relative] = file.read(), stat.S_IMODE(facts.st_mode)

    def clean(self) -> bool:
        """Remove what a test left; return whether nothing of it is left."""
        try:
            left = _MOST_LEFT
            for folder, kept in self._folders.items():
                left = _empty(folder, left, _DEEPEST, kept)
            return not any(map(_has_objects, _IPC))
        except OSError:
            return False


def _empty(folder: str, left: int, depth: int, kept: Collection[str] = ()) -> int:
    """Remove the entries of a folder, at most `left`; return how many more may be removed."""
    with os.scandir(folder) as entries:
        found = [entry for entry in entries if entry.name not in kept]
    for entry in found:
        left -= 1
        if left < 0 or depth < 0:
            raise DirtyError(f"{folder} has too many entries")
        if entry.is_dir(follow_symlinks=False):
            with contextlib.suppress(OSError):
                os.chmod(entry.path, 0o700, follow_symlinks=False)
            left = _empty(entry.path, left, depth - 1)
            os.rmdir(entry.path)
        else:
            os.unlink(entry.path)
    return left


def _has_objects(kind: str) -> bool:
    """Return whether a System V object of a kind exists, which outlives its maker."""
    with contextlib.suppress(FileNotFoundError), open(f"/proc/sysvipc/{kind}", "rb") as file:
        file.readline()
        return bool(file.readline())
    return False


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
