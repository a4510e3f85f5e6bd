"""Awaitable twin of a sandbox's files."""

import os

from anyio.lowlevel import checkpoint

from llm_sandbox.aio.threads import in_thread
from llm_sandbox.sandbox.files import FileEntry, SandboxFiles
from llm_sandbox.sandbox.transfer import TransferReport

__all__ = ["AsyncFiles"]

_READ_BYTES = 64 << 20
_ARCHIVE_BYTES = 256 << 20
_DOWNLOAD_BYTES = 1 << 30


class AsyncFiles:
    """Files of a sandbox; see `SandboxFiles` for the arguments and errors of each method.

    A cancelled operation continues to its end, or to that of the sandbox.

    Args:
        files: Synchronous twin.
    """

    def __init__(self, files: SandboxFiles) -> None:
        self._files = files

    async def read_bytes(self, path: str, limit: int = _READ_BYTES) -> bytes:
        """Return a file's content."""
        return await in_thread(lambda _: self._files.read_bytes(path, limit))

    async def read_text(self, path: str, limit: int = _READ_BYTES) -> str:
        r"""Return a file's content as UTF-8; other bytes appear as ``\xff`` escapes."""
        return await in_thread(lambda _: self._files.read_text(path, limit))

    async def write_bytes(
        self,
        path: str,
        data: bytes,
        *,
        append: bool = False,
        exclusive: bool = False,
        parents: bool = True,
        mode: int = 0o644,
    ) -> None:
        """Write a file."""
        await in_thread(
            lambda _: self._files.write_bytes(
                path, data, append=append, exclusive=exclusive, parents=parents, mode=mode
            )
        )

    async def write_text(
        self,
        path: str,
        data: str,
        *,
        append: bool = False,
        exclusive: bool = False,
        parents: bool = True,
        mode: int = 0o644,
    ) -> None:
        """Write text as UTF-8."""
        await in_thread(
            lambda _: self._files.write_text(
                path, data, append=append, exclusive=exclusive, parents=parents, mode=mode
            )
        )

    async def list(self, path: str = ".") -> list[FileEntry]:
        """Return the entries of a directory, sorted by name; links are not followed."""
        return await in_thread(lambda _: self._files.list(path))

    async def stat(self, path: str, *, follow: bool = True) -> FileEntry:
        """Return the metadata of a file; with `follow`, of the target of a link."""
        return await in_thread(lambda _: self._files.stat(path, follow=follow))

    async def exists(self, path: str) -> bool:
        """Return whether there is something at the path; False for a link to nothing."""
        return await in_thread(lambda _: self._files.exists(path))

    async def mkdir(self, path: str, *, parents: bool = True, exist_ok: bool = True) -> None:
        """Create a directory."""
        await in_thread(lambda _: self._files.mkdir(path, parents=parents, exist_ok=exist_ok))

    async def remove(self, path: str, *, recursive: bool = False) -> None:
        """Remove a file, link or empty directory, with `recursive` also a full directory."""
        await in_thread(lambda _: self._files.remove(path, recursive=recursive))

    async def upload(self, host_path: str | os.PathLike[str], path: str) -> None:
        """Copy a file or directory of this machine into the sandbox."""
        await in_thread(lambda _: self._files.upload(host_path, path))

    async def download(
        self, path: str, host_path: str | os.PathLike[str], *, limit: int = _DOWNLOAD_BYTES
    ) -> TransferReport:
        """Copy a file or directory of the sandbox to this machine, without following links."""
        return await in_thread(lambda _: self._files.download(path, host_path, limit=limit))

    async def archive(self, path: str = ".", limit: int = _ARCHIVE_BYTES) -> bytes:
        """Return a file or directory as an uncompressed tar archive, as hostile as its content."""
        return await in_thread(lambda _: self._files.archive(path, limit))

    async def resolve(self, path: str) -> str:
        """Return the absolute form of a path, links and ``..`` left as they are."""
        await checkpoint()
        return self._files.resolve(path)
