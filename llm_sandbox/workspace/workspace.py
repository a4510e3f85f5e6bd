"""Workspace: safe access to a host folder that programs in sandboxes modify."""

import contextlib
import os
import secrets
import stat
from pathlib import Path, PurePath
from typing import Self

from llm_sandbox.exceptions import FileError, OutputLimitError, PathError, ValidationError
from llm_sandbox.workspace.changes import Changes, compare
from llm_sandbox.workspace.folder import Folder, file_error
from llm_sandbox.workspace.manifest import Manifest, matches, read_manifest, walk

__all__ = ["Workspace"]


class Workspace:
    """Host folder shared with a sandbox, as a mount or by copies.

    Paths are relative to the folder, or absolute and inside it. Concurrent changes of links cannot
    redirect an operation outside: the kernel resolves each path atomically.

    As a context manager it is closed at the end of the block.

    Args:
        root: Existing folder.

    Raises:
        SandboxFileNotFoundError: The folder does not exist.
        SandboxNotADirectoryError: The path is not a folder.
    """

    def __init__(self, root: str | Path) -> None:
        self._folder = Folder(Path(root))

    @property
    def root(self) -> Path:
        """Absolute path of the folder."""
        return self._folder.root

    def __repr__(self) -> str:
        return f"<Workspace {self.root}>"

    # --- files

    def read_bytes(self, path: str | PurePath, *, max_bytes: int | None = None) -> bytes:
        """Return a file's content.

        Args:
            path: File; links are followed inside the workspace.
            max_bytes: Maximum size; None for no limit.

        Raises:
            SandboxFileNotFoundError: The file does not exist.
            SandboxIsADirectoryError: The path is a folder.
            PathError: The path leads out of the workspace, or is a pipe or a device.
            OutputLimitError: The file is larger than `max_bytes`.
        """
        if max_bytes is not None and max_bytes < 0:
            raise ValidationError("max_bytes is a number from 0, or None", parameter="max_bytes")
        descriptor, found = self._folder.open_regular(self._folder.relative(path))
        with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor
            if max_bytes is None:
                return file.read()
            data = file.read(max_bytes + 1)
        if len(data) > max_bytes:
            raise OutputLimitError(
                f"{os.fspath(path)!r} has {found.st_size} bytes, more than {max_bytes}"
            )
        return data

    def read_text(self, path: str | PurePath, *, encoding: str = "utf-8") -> str:
        """Return a file's text; errors as in `read_bytes`.

        Raises:
            UnicodeDecodeError: The content is not text in that encoding.
        """
        return self.read_bytes(path).decode(encoding)

    def write_bytes(self, path: str | PurePath, content: bytes) -> Path:
        """Write a file atomically: readers see the old or the new content.

        An existing entry is replaced, not written through: links are not followed, and hard links
        keep the old content. Missing parent folders are created. The permissions of an existing
        file are kept.

        Returns:
            Absolute path of the file.

        Raises:
            SandboxIsADirectoryError: The path is a folder.
            PathError: The path leads out of the workspace.
        """
        place = self._folder.relative(path)
        parent, name = self._parent(place, make=True)
        draft = f".{secrets.token_hex(8)}.part"
        try:
            try:
                # No more than the umask allows, as for any new file.
                descriptor = os.open(
                    draft,
                    os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC,
                    0o666,
                    dir_fd=parent,
                )
                with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor
                    file.write(content)
                    mode = _mode_of(parent, name)
                    if mode is not None:
                        os.fchmod(file.fileno(), mode)
                os.replace(draft, name, src_dir_fd=parent, dst_dir_fd=parent)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(draft, dir_fd=parent)
                raise
        except OSError as error:
            if isinstance(error, FileError):
                raise
            raise file_error(error, place) from error
        finally:
            os.close(parent)
        return self.root / place

    def write_text(self, path: str | PurePath, content: str, *, encoding: str = "utf-8") -> Path:
        """Write text to a file; see `write_bytes`."""
        return self.write_bytes(path, content.encode(encoding))

    def delete(self, path: str | PurePath) -> None:
        """Delete a file; for a link, the link and not its target.

        Raises:
            SandboxFileNotFoundError: The file does not exist.
            SandboxIsADirectoryError: The path is a folder.
            PathError: The path leads out of the workspace.
        """
        place = self._folder.relative(path)
        parent, name = self._parent(place, make=False)
        try:
            os.unlink(name, dir_fd=parent)
        except OSError as error:
            raise file_error(error, place) from error
        finally:
            os.close(parent)

    def list(self, pattern: str = "**/*") -> list[Path]:
        """Return the relative paths of files, sorted, with links to files in the workspace.

        Args:
            pattern: ``*`` and ``?`` within a name, ``[...]`` for one of several characters, and
                ``**`` for any number of folders.
        """
        found = []
        for path, status in walk(self._folder):
            if not matches(path, pattern):
                continue
            if stat.S_ISLNK(status.st_mode):
                try:
                    os.close(self._folder.open_regular(path)[0])
                except FileError:
                    continue
            elif not stat.S_ISREG(status.st_mode):
                continue
            found.append(Path(path))
        return sorted(found)

    def _parent(self, place: str, *, make: bool) -> tuple[int, str]:
        if place == ".":
            raise PathError("the workspace itself is not a file", path=place)
        above, _, name = place.rpartition("/")
        return self._folder.open_folder(above or ".", make=make), name

    # --- changes

    def manifest(self, before: Manifest | None = None) -> Manifest:
        """Return the current manifest, for comparison with later.

        Args:
            before: Earlier manifest, so that unchanged files are not read again.

        Raises:
            OutputLimitError: The folder has more than 200,000 entries.
        """
        return read_manifest(self._folder, before)

    def changes(self, since: Manifest) -> Changes:
        """Return the changes since a manifest, including untracked files and commits made
        meanwhile.

        No program is started, and no Git configuration, attributes or hooks of the workspace are
        used.

        Args:
            since: Earlier result of `manifest`.

        Raises:
            OutputLimitError: The folder has more than 200,000 entries.
        """
        return compare(since, self.manifest(since))

    # --- end

    def close(self) -> None:
        """Close the workspace without changing the folder; may be called twice."""
        self._folder.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _mode_of(parent: int, name: str) -> int | None:
    try:
        found = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except OSError:
        return None
    # Set-id bits, which would grant the owner's rights, are not kept.
    return stat.S_IMODE(found.st_mode) & 0o777 if stat.S_ISREG(found.st_mode) else None
