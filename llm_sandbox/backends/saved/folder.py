"""The private folder that snapshots are kept in."""

import contextlib
import os
import pwd
import stat

from llm_sandbox.exceptions import BackendUnavailableError, SecurityError

__all__ = ["PRIVATE_FOLDER", "data_folder", "open_private", "read_own"]

PRIVATE_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def data_folder() -> str:
    """Path of the folder: in ``$XDG_DATA_HOME``, else in ``~/.local/share``."""
    base = os.environ.get("XDG_DATA_HOME", "")
    if not os.path.isabs(base):
        home = os.environ.get("HOME", "")
        if not os.path.isabs(home):
            home = pwd.getpwuid(os.geteuid()).pw_dir
        base = os.path.join(home, ".local", "share")
    return os.path.join(base, "llm-sandbox", "snapshots")


def open_private(path: str) -> int:
    """Open a folder that is this user's alone, making it where it is missing.

    Raises:
        SecurityError: It is not.
        BackendUnavailableError: It cannot be made.
    """
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)
        fd = os.open(path, PRIVATE_FOLDER)
    except (NotADirectoryError, FileExistsError):
        raise _not_private(path, "it is no folder, or a link to one") from None
    except OSError as error:
        if os.path.islink(path):
            raise _not_private(path, "it is a link") from None
        raise BackendUnavailableError(
            f"snapshots are kept in {path}, which cannot be used: {error.strerror}",
            hint="name a folder that can be written: XDG_DATA_HOME",
        ) from None
    found = os.fstat(fd)
    if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
        os.close(fd)
        raise _not_private(path, "others own it, or may enter it")
    return fd


def _not_private(path: str, why: str) -> SecurityError:
    return SecurityError(
        f"snapshots are kept in {path}, and {why}", hint=f"look at it, and move it away: {path}"
    )


def read_own(folder: int, name: str) -> int | None:
    """Open a file of this user's for reading; None where there is none that can be trusted."""
    # trust: another program of this user's may have put anything here; no link is followed.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = os.open(name, flags, dir_fd=folder)
    except OSError:
        return None
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
        os.close(fd)
        return None
    return fd
