"""Private folder in which detached sandboxes are registered."""

# ruff: noqa: PTH102, PTH103, PTH114, PTH117, PTH118, PTH120, PTH208
# Because: works with descriptors, and with paths that must not be followed.

import contextlib
import fcntl
import os
import pwd
import stat
import time
from collections.abc import Iterator

from llm_sandbox.exceptions import BackendUnavailableError, SecurityError

__all__ = ["StateDir", "default_state_dir"]

_PRIVATE = 0o700
_LOCK = "registry.lock"
_LOCK_S = 20.0
_PAUSE_S = 0.01


def default_state_dir() -> str:
    """Return the path of the folder: in ``$XDG_STATE_HOME``, else in ``~/.local/state``."""
    base = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):
        home = os.environ.get("HOME", "")
        if not os.path.isabs(home):
            home = pwd.getpwuid(os.geteuid()).pw_dir
        base = os.path.join(home, ".local", "state")
    return os.path.join(base, "llm-sandbox", "kept")


class StateDir:
    """The folder, opened once: later changes of its path have no effect.

    Raises:
        SecurityError: The folder is not private to this user.
        BackendUnavailableError: The folder cannot be created.
    """

    def __init__(self, path: str | None = None) -> None:
        self.path = path or default_state_dir()
        try:
            os.makedirs(os.path.dirname(self.path), mode=_PRIVATE, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                os.mkdir(self.path, _PRIVATE)
            self._fd = os.open(
                self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            )
        except (NotADirectoryError, FileExistsError):
            raise self._not_private("it is not a folder, or is a link to one") from None
        except OSError as error:
            if os.path.islink(self.path):
                raise self._not_private("it is a link") from None
            raise BackendUnavailableError(
                f"detached sandboxes are registered in {self.path}, which cannot be used: "
                f"{error.strerror}",
                hint="name a folder that can be written: XDG_STATE_HOME",
            ) from None
        found = os.fstat(self._fd)
        if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
            os.close(self._fd)
            raise self._not_private("others own it, or may enter it")

    def _not_private(self, why: str) -> SecurityError:
        return SecurityError(
            f"detached sandboxes are registered in {self.path}, and {why}",
            hint=f"look at it, and remove it: rm -r {self.path}",
        )

    def close(self) -> None:
        """Close the folder."""
        os.close(self._fd)

    def __enter__(self) -> "StateDir":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def socket_path(self, name: str) -> str:
        """Return a path for `bind` and `connect` that is short and leads into this folder alone."""
        return f"/proc/self/fd/{self._fd}/{name}"

    def names(self) -> list[str]:
        """Return the names of the files."""
        return os.listdir(self._fd)

    def read(self, name: str, most: int) -> bytes | None:
        """Return the content of a file of this user; None if it is missing or not trustworthy."""
        # trust: another program of this user's may have put anything here; no link is followed.
        try:
            fd = os.open(
                name,
                os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC,
                dir_fd=self._fd,
            )
        except OSError:
            return None
        try:
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
                return None
            data = os.read(fd, most + 1)
            return data if len(data) <= most else None
        finally:
            os.close(fd)

    def write(self, name: str, data: bytes) -> None:
        """Replace a file atomically."""
        temporary = f"{name}.new"
        self.remove(temporary)
        fd = os.open(
            temporary,
            os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC,
            0o600,
            dir_fd=self._fd,
        )
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
        finally:
            os.close(fd)
        os.rename(temporary, name, src_dir_fd=self._fd, dst_dir_fd=self._fd)

    def remove(self, name: str) -> None:
        """Remove a file, if it exists."""
        with contextlib.suppress(FileNotFoundError, IsADirectoryError):
            os.unlink(name, dir_fd=self._fd)

    def is_own_socket(self, name: str) -> bool:
        """Return whether a name is a socket of this user, and not a link."""
        try:
            found = os.stat(name, dir_fd=self._fd, follow_symlinks=False)
        except OSError:
            return False
        return stat.S_ISSOCK(found.st_mode) and found.st_uid == os.geteuid()

    def take_lock(self, name: str) -> int | None:
        """Lock a file for as long as the returned descriptor, or its process, lives.

        Returns:
            The descriptor; None if another process has the lock.
        """
        fd = self._open_lock(name)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return None
        return fd

    def _open_lock(self, name: str) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        return os.open(name, flags, 0o600, dir_fd=self._fd)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the registry for changes: one process at a time.

        Raises:
            BackendUnavailableError: Another process holds the lock for too long.
        """
        deadline = time.monotonic() + _LOCK_S
        while (fd := self.take_lock(_LOCK)) is None:
            if time.monotonic() > deadline:
                raise BackendUnavailableError(
                    f"another process has held {self.path}/{_LOCK} for {_LOCK_S:.0f} s",
                    hint=f"find it: fuser {self.path}/{_LOCK}",
                )
            time.sleep(_PAUSE_S)
        try:
            yield
        finally:
            os.close(fd)
