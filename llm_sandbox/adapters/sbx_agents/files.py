"""File operations of a workspace that never leave it."""

from pathlib import Path

from llm_sandbox.workspace import Workspace

__all__ = ["WorkspaceFileMixin"]


class WorkspaceFileMixin:
    """Mixin with methods for the files of ``workspace``.

    Paths are relative to the workspace, or absolute and inside it. Concurrent changes of links
    cannot redirect an operation outside: the kernel resolves each path atomically.
    """

    workspace: Path

    def put_file(self, path: str | Path, content: str, *, encoding: str = "utf-8") -> Path:
        """Write text to a file, with missing parent folders.

        Returns:
            Absolute path of the file.

        Raises:
            ValueError: The path leads out of the workspace.
        """
        return self.put_bytes(path, content.encode(encoding))

    def get_file(self, path: str | Path, *, encoding: str = "utf-8") -> str:
        """Return the text of a file; errors as in `get_bytes`."""
        return self.get_bytes(path).decode(encoding)

    def put_bytes(self, path: str | Path, content: bytes) -> Path:
        """Write a file atomically, like `put_file`. A link at the path is replaced."""
        with Workspace(self.workspace.resolve()) as files:
            return files.write_bytes(self._below(path), content)

    def get_bytes(self, path: str | Path) -> bytes:
        """Return a file's content.

        Raises:
            FileNotFoundError: The file does not exist.
            ValueError: The path leads out of the workspace, or to a pipe or a device.
        """
        with Workspace(self.workspace.resolve()) as files:
            return files.read_bytes(self._below(path))

    def list_files(self, pattern: str = "**/*") -> list[Path]:
        """Return the relative paths of regular files, sorted, with links to files in the workspace.

        Args:
            pattern: ``*`` and ``?`` within a name, ``[...]`` for one of several characters, and
                ``**`` for any number of folders.
        """
        with Workspace(self.workspace.resolve()) as files:
            return files.list(pattern)

    def delete_file(self, path: str | Path) -> None:
        """Delete a file; for a link, the link itself and not its target.

        Raises:
            FileNotFoundError: The file does not exist.
            ValueError: The path leads out of the workspace.
        """
        with Workspace(self.workspace.resolve()) as files:
            files.delete(self._below(path))

    def _below(self, path: str | Path) -> Path:
        """Return a path below the workspace as given, relative to its resolved path."""
        given = Path(path)
        root = self.workspace.absolute()
        if given.is_absolute() and given.is_relative_to(root):
            return self.workspace.resolve() / given.relative_to(root)
        return given
