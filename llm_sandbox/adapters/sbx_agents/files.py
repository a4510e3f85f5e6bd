"""Files of a workspace, by paths that never lead out of it."""

from pathlib import Path

from llm_sandbox.workspace import Workspace

__all__ = ["WorkspaceFileMixin"]


class WorkspaceFileMixin:
    """Methods for the files of ``workspace``.

    Paths are relative to it, or absolute and in it. Whatever a program makes of links meanwhile,
    what is read, written and deleted lies in it: the kernel resolves each path at once.
    """

    workspace: Path

    def put_file(self, path: str | Path, content: str, *, encoding: str = "utf-8") -> Path:
        """Write text as a file, making folders above it.

        Returns:
            Its absolute path.

        Raises:
            ValueError: The path leads out of the workspace.
        """
        return self.put_bytes(path, content.encode(encoding))

    def get_file(self, path: str | Path, *, encoding: str = "utf-8") -> str:
        """Return a file's text; errors as in `get_bytes`."""
        return self.get_bytes(path).decode(encoding)

    def put_bytes(self, path: str | Path, content: bytes) -> Path:
        """Write a file as a whole; as `put_file`. A link in its place is replaced."""
        with Workspace(self.workspace.resolve()) as files:
            return files.write_bytes(self._below(path), content)

    def get_bytes(self, path: str | Path) -> bytes:
        """Return a file's content.

        Raises:
            FileNotFoundError: There is none.
            ValueError: The path leads out of the workspace, or to a pipe or a device.
        """
        with Workspace(self.workspace.resolve()) as files:
            return files.read_bytes(self._below(path))

    def list_files(self, pattern: str = "**/*") -> list[Path]:
        """Return the relative paths of regular files, sorted; of links those that stay inside.

        Args:
            pattern: ``*`` and ``?`` within a name, ``[...]`` for one of several characters, and
                ``**`` for any number of folders.
        """
        with Workspace(self.workspace.resolve()) as files:
            return files.list(pattern)

    def delete_file(self, path: str | Path) -> None:
        """Delete a file; of a link the link itself, never what it points to.

        Raises:
            FileNotFoundError: There is none.
            ValueError: The path leads out of the workspace.
        """
        with Workspace(self.workspace.resolve()) as files:
            files.delete(self._below(path))

    def _below(self, path: str | Path) -> Path:
        """A path by the workspace as it was given, which may go through links, as one by its real
        place.
        """
        given = Path(path)
        root = self.workspace.absolute()
        if given.is_absolute() and given.is_relative_to(root):
            return self.workspace.resolve() / given.relative_to(root)
        return given
