"""Transfer of files between this computer and a sandbox.

Downloads are written relative to open directories, part by part, without following or creating a
link: whatever the sandbox names, and whoever changes the destination meanwhile, nothing outside of
it is touched.
"""

import contextlib
import os
import posixpath
import secrets
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field

from llm_sandbox.exceptions import OutputLimitError, PathError, ProtocolError
from llm_sandbox.guest.bulk import Record, SenderFailed
from llm_sandbox.sandbox.file_service import DeadlineConnection

__all__ = ["Skipped", "TransferReport", "receive_tree", "send_path"]

_MOST_ENTRIES = 100_000
_MOST_SKIPPED = 1000
_DEEPEST = 64
_PIECE = 1 << 18
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Skipped:
    """Path that was not copied."""

    path: str
    """Path below the copied directory."""
    reason: str
    """Reason for the omission."""


@dataclass(slots=True)
class TransferReport:
    """Report of a download."""

    files: int = 0
    """Number of files written."""
    size: int = 0
    """Number of bytes written."""
    skipped: list[Skipped] = field(default_factory=list)
    """Omitted paths, the first 1000."""

    def skip(self, path: str, reason: str) -> None:
        """Add an omitted path."""
        if len(self.skipped) < _MOST_SKIPPED:
            self.skipped.append(Skipped(path, reason))


# --- out of the sandbox


def receive_tree(line: DeadlineConnection, host_path: str, limit: int) -> TransferReport:
    """Write the tree that the file service sends.

    Args:
        line: Connection to the file service.
        host_path: Destination of the tree.
        limit: Maximum number of bytes in all.
    """
    # Not resolved: links above the destination are the caller's, and followed.
    parent, name = os.path.split(os.path.abspath(host_path))  # noqa: PTH100
    if not name:
        raise PathError("the root directory cannot be a destination", path=host_path)
    report = TransferReport()
    folder = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        first = line.receive_record(1 << 20)
        if not first:
            return report
        if first.get("kind") == "file" and first.get("path") == "":
            _receive_file(line, folder, name, first, limit, report)
            _expect_end(line)
        elif first.get("kind") == "directory" and first.get("path") == "":
            with _destination(folder, name) as root:
                _receive_entries(line, root, limit, report)
        else:
            raise ProtocolError("the sandbox's file service sent a tree without a root")
    except SenderFailed:
        _expect_end(line)
        raise
    finally:
        os.close(folder)
    return report


@contextlib.contextmanager
def _destination(parent: int, name: str) -> Iterator[int]:
    """Open the directory of the destination; a new one gets its name at the end of the block."""
    try:
        root = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=parent)
    except FileNotFoundError:
        pass
    else:
        try:
            yield root
        finally:
            os.close(root)
        return
    made = f".{name[:200]}.{os.urandom(8).hex()}"
    os.mkdir(made, 0o777, dir_fd=parent)
    root = os.open(made, _FOLDER, dir_fd=parent)
    try:
        # Asking for the umask would set it for every thread for a moment.
        mode = stat.S_IMODE(os.fstat(root).st_mode)
        os.fchmod(root, 0o700)
        yield root
        os.fchmod(root, mode)
        os.rename(made, name, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True, dir_fd=parent)
        raise
    finally:
        os.close(root)


def _receive_entries(
    line: DeadlineConnection, root: int, limit: int, report: TransferReport
) -> None:
    count = 0
    while entry := line.receive_record(1 << 20):
        count += 1
        if count > _MOST_ENTRIES:
            raise OutputLimitError(
                f"the directory has more than {_MOST_ENTRIES} files", limit=_MOST_ENTRIES
            )
        path, kind = entry.get("path"), entry.get("kind")
        if not isinstance(path, str) or not isinstance(kind, str):
            raise ProtocolError("the sandbox's file service sent an invalid entry")
        # trust: the path comes from inside; each part is used below an open directory only.
        parts = path.split("/")
        reason = _why_not(parts, kind, entry)
        if reason is None:
            try:
                reason = _write_entry(line, root, parts, entry, limit, report)
            except NotADirectoryError:
                reason = "a link or a file is in the way"
        if reason is not None:
            if kind == "file":
                _skip_content(line, limit)
            report.skip(path, reason)


def _why_not(parts: list[str], kind: str, entry: Record) -> str | None:
    if kind == "unreadable":
        return f"it cannot be read: {str(entry.get('why'))[:100]}"
    if kind not in ("file", "directory"):
        return "it is a link" if kind == "link" else "it is not a regular file"
    if len(parts) > _DEEPEST:
        return "it lies too deep"
    for part in parts:
        if part in ("", ".", "..") or "\0" in part:
            return "its name cannot be used"
        try:
            if len(os.fsencode(part)) > 255:
                return "its name is too long"
        except UnicodeEncodeError:
            return "its name cannot be used"
    return None


def _write_entry(
    line: DeadlineConnection,
    root: int,
    parts: list[str],
    entry: Record,
    limit: int,
    report: TransferReport,
) -> str | None:
    """Write one entry; return the reason for its omission, with its content unread, or None."""
    is_folder = entry["kind"] == "directory"
    folder = _walk(root, parts if is_folder else parts[:-1])
    try:
        if is_folder:
            return None
        with contextlib.suppress(FileNotFoundError):
            if stat.S_ISDIR(os.stat(parts[-1], dir_fd=folder, follow_symlinks=False).st_mode):
                return "a directory is in the way"
        _receive_file(line, folder, parts[-1], entry, limit, report)
    finally:
        os.close(folder)
    return None


def _walk(root: int, parts: list[str]) -> int:
    """Open a directory below `root`, creating missing ones.

    Raises:
        NotADirectoryError: A part of the path is a link or a file.
    """
    here = os.dup(root)
    try:
        for part in parts:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, 0o777, dir_fd=here)
            below = os.open(part, _FOLDER, dir_fd=here)
            os.close(here)
            here = below
    except BaseException:
        os.close(here)
        raise
    return here


def _receive_file(
    line: DeadlineConnection,
    folder: int,
    name: str,
    entry: Record,
    limit: int,
    report: TransferReport,
) -> None:
    """Write one file atomically, over a file or link of that name."""
    mode = entry.get("mode")
    executable = isinstance(mode, int) and bool(mode & 0o100)
    partial = f".{secrets.token_hex(12)}.part"
    fd = os.open(partial, _NEW_FILE, 0o777 if executable else 0o666, dir_fd=folder)
    try:
        try:
            # trust: what is counted is what arrives, whatever size the entry claims.
            for chunk in line.chunks():
                report.size += len(chunk)
                if report.size > limit:
                    raise OutputLimitError(f"there are more than {limit} bytes", limit=limit)
                _write_all(fd, chunk)
        finally:
            os.close(fd)
        os.replace(partial, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(partial, dir_fd=folder)
        raise
    report.files += 1


def _skip_content(line: DeadlineConnection, limit: int) -> None:
    left = limit
    for chunk in line.chunks():
        left -= len(chunk)
        if left < 0:
            raise OutputLimitError(f"there are more than {limit} bytes", limit=limit)


def _expect_end(line: DeadlineConnection) -> None:
    if line.receive_record(1 << 20):
        raise ProtocolError("the sandbox's file service sent more than one file")


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


# --- into the sandbox


def send_path(host_path: str, line: DeadlineConnection) -> None:
    """Send a file, or a directory's files, to the file service."""
    fd = os.open(host_path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        mode = os.fstat(fd).st_mode
        if stat.S_ISDIR(mode):
            line.send_record({"path": "", "kind": "directory"})
            _send_folder(line, fd, "")
        elif stat.S_ISREG(mode):
            _send_file(line, fd, "", mode)
        else:
            raise PathError("it is neither a file nor a directory", path=host_path)
    finally:
        os.close(fd)
    line.send_record({})


def _send_folder(line: DeadlineConnection, folder: int, path: str) -> None:
    for name in sorted(os.listdir(folder)):
        inner = posixpath.join(path, name)
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            target = os.readlink(name, dir_fd=folder)
            if posixpath.isabs(target) or _leaves(posixpath.join(path, target)):
                raise PathError("it is a link that leads out of the directory", path=inner)
            line.send_record({"path": inner, "kind": "link", "target": target})
        elif stat.S_ISDIR(mode):
            line.send_record({"path": inner, "kind": "directory"})
            _send_inner(line, folder, name, inner, directory=True)
        elif stat.S_ISREG(mode):
            _send_inner(line, folder, name, inner, directory=False)
        else:
            raise PathError("it is neither a file, a directory nor a link", path=inner)


def _send_inner(
    line: DeadlineConnection, folder: int, name: str, path: str, *, directory: bool
) -> None:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    fd = os.open(name, flags | (os.O_DIRECTORY if directory else 0), dir_fd=folder)
    try:
        mode = os.fstat(fd).st_mode
        if directory:
            _send_folder(line, fd, path)
        elif stat.S_ISREG(mode):
            _send_file(line, fd, path, mode)
        else:
            raise PathError("it changed while it was read", path=path)
    finally:
        os.close(fd)


def _send_file(line: DeadlineConnection, fd: int, path: str, mode: int) -> None:
    line.send_record({"path": path, "kind": "file", "mode": stat.S_IMODE(mode) & 0o777})
    while data := os.read(fd, _PIECE):
        line.send_chunk(data)
    line.end_chunks()


def _leaves(path: str) -> bool:
    normal = posixpath.normpath(path)
    return normal == ".." or normal.startswith("../")
