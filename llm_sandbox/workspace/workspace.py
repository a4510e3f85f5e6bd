"""A folder of the host that others work in as well, by safe paths."""

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
    """A folder that a sandbox has, too, as a mount or by copies.

    Paths are relative to it, or absolute and in it. Whatever a program makes of links meanwhile,
    what is read, written and deleted lies in the folder: the kernel resolves each path at once.

    As a context manager it is closed at the block's end.

    Args:
        root: An existing folder.

    Raises:
        SandboxFileNotFoundError: There is no such folder.
        SandboxNotADirectoryError: It is something else.
    """

    def __init__(self, root: str | Path) -> None:
        self._folder = Folder(Path(root))

    @property
    def root(self) -> Path:
        """The folder, absolute."""
        return self._folder.root

    def __repr__(self) -> str:
        return f"<Workspace {self.root}>"

    # --- files

    def read_bytes(self, path: str | PurePath, *, max_bytes: int | None = None) -> bytes:
        """Return a file's content.

        Args:
            path: The file; a link in the workspace is followed where it stays in it.
            max_bytes: The largest size that is read; None for any.

        Raises:
            SandboxFileNotFoundError: There is none.
            SandboxIsADirectoryError: It is a folder.
            PathError: It leads out of the workspace, or is a pipe or a device.
            OutputLimitError: It is larger than `max_bytes`.
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
            UnicodeDecodeError: It is no text in that encoding.
        """
        return self.read_bytes(path).decode(encoding)

    def write_bytes(self, path: str | PurePath, content: bytes) -> Path:
        """Write a file as a whole: readers see the old content or the new one.

        What is in its place is replaced, not written through: a link does not lead elsewhere, and
        another name of the same file keeps its content. Folders above are made. An existing file's
        permissions stay.

        Returns:
            Its absolute path.

        Raises:
            SandboxIsADirectoryError: It is a folder.
            PathError: It leads out of the workspace.
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
        """Write text as a file; see `write_bytes`."""
        return self.write_bytes(path, content.encode(encoding))

    def delete(self, path: str | PurePath) -> None:
        """Delete a file; of a link the link, never what it points to.

        Raises:
            SandboxFileNotFoundError: There is none.
            SandboxIsADirectoryError: It is a folder.
            PathError: It leads out of the workspace.
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
        """Return the relative paths of files, sorted; of links those to files in the workspace.

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
            raise PathError("the workspace itself is no file", path=place)
        above, _, name = place.rpartition("/")
        return self._folder.open_folder(above or ".", make=make), name

    # --- changes

    def manifest(self, before: Manifest | None = None) -> Manifest:
        """Return what it holds now, to compare with later.

        Args:
            before: An earlier one, which saves reading what is as it was.

        Raises:
            OutputLimitError: It holds more than 200,000 entries.
        """
        return read_manifest(self._folder, before)

    def changes(self, since: Manifest) -> Changes:
        """Return what became of it: files that are new to Git, or committed meanwhile, as well.

        No program is started for it, and nothing that lies in the workspace is obeyed: no Git
        configuration, no attributes, no hooks.

        Args:
            since: What `manifest` returned before.

        Raises:
            OutputLimitError: It holds more than 200,000 entries.
        """
        return compare(since, self.manifest(since))

    # --- end

    def close(self) -> None:
        """Let go of the folder, which stays as it is; may be called twice."""
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
    # Bits that would lend its owner's rights are not handed on.
    return stat.S_IMODE(found.st_mode) & 0o777 if stat.S_ISREG(found.st_mode) else None
