"""Bytes that results refer to, stored once and outside the heap until they are read."""

import base64
import builtins
import hashlib
import os
import threading
import weakref
from pathlib import Path

from llm_sandbox.host.paths import unnamed_file

__all__ = ["Content"]

_IN_MEMORY = 1 << 16
_SEGMENT = 64 << 20


class Content:
    """Immutable bytes, identified by their SHA-256.

    Small content is kept in memory; larger content in unnamed files, which the system removes when
    the process ends. Equal bytes are one object: create it with `Content.of`.
    """

    __slots__ = ("__weakref__", "_data", "_offset", "_segment", "sha256", "size")

    sha256: str
    """Digest of the bytes, 64 hexadecimal digits."""
    size: int
    """Number of bytes."""
    _data: builtins.bytes
    _segment: "_Segment | None"
    _offset: int

    @classmethod
    def of(cls, data: builtins.bytes | bytearray | memoryview) -> "Content":
        """Return the content with these bytes."""
        return _store.put(data)

    def bytes(self) -> builtins.bytes:
        """Return all bytes."""
        return self.head(self.size)

    def head(self, size: int) -> builtins.bytes:
        """Return the first bytes.

        Args:
            size: Most bytes to return.
        """
        if self._segment is None:
            return self._data[:size]
        return self._segment.read(self._offset, min(size, self.size))

    def base64(self) -> str:
        """Return the bytes as base64 text, without line breaks."""
        return base64.b64encode(self.bytes()).decode("ascii")

    def text(self) -> str:
        r"""Return the bytes as UTF-8 text; invalid bytes appear as ``\xff`` escapes."""
        return self.bytes().decode("utf-8", "backslashreplace")

    def save(self, path: str | Path) -> Path:
        """Write the bytes to a file of the host, replacing an existing one, and return its path.

        Raises:
            OSError: The file cannot be written.
        """
        target = Path(path)
        target.write_bytes(self.bytes())
        return target

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Content) and self.sha256 == other.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __reduce__(self) -> tuple[object, ...]:
        return Content.of, (self.bytes(),)

    def __repr__(self) -> str:
        return f"<Content {self.sha256[:12]}, {self.size} bytes>"


class _Segment:
    """Unnamed file that contents are appended to; closed when the last of them is
    garbage-collected.
    """

    def __init__(self) -> None:
        self._fd = unnamed_file()
        self.used = 0
        weakref.finalize(self, os.close, self._fd)

    def append(self, data: bytes | bytearray | memoryview) -> int:
        offset = self.used
        view = memoryview(data).cast("B")
        while view:
            written = os.pwrite(self._fd, view, self.used)
            self.used += written
            view = view[written:]
        return offset

    def read(self, offset: int, size: int) -> bytes:
        pieces = []
        while size > 0 and (piece := os.pread(self._fd, size, offset)):
            pieces.append(piece)
            offset += len(piece)
            size -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


class _Store:
    """Weak registry of all contents of this process."""

    def __init__(self) -> None:
        self._reset()
        os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        # A child that went on writing into its parent's file would write over what the parent adds.
        self._lock = threading.Lock()
        self._known: weakref.WeakValueDictionary[str, Content] = weakref.WeakValueDictionary()
        self._segment: _Segment | None = None

    def put(self, data: bytes | bytearray | memoryview) -> Content:
        digest = hashlib.sha256(data).hexdigest()
        with self._lock:
            content = self._known.get(digest)
            if content is None:
                content = self._keep(digest, data)
                self._known[digest] = content
        return content

    def _keep(self, digest: str, data: bytes | bytearray | memoryview) -> Content:
        content = Content()
        content.sha256, content.size = digest, memoryview(data).nbytes
        content._data, content._segment, content._offset = b"", None, 0
        if content.size > _IN_MEMORY:
            try:
                segment = self._segment_for(content.size)
                content._offset = segment.append(data)
                content._segment = segment
                return content
            except OSError:
                # The disk is full: memory is what is left.
                self._segment = None
        content._data = bytes(data)
        return content

    def _segment_for(self, size: int) -> _Segment:
        if size >= _SEGMENT:
            return _Segment()
        if self._segment is None or self._segment.used >= _SEGMENT:
            self._segment = _Segment()
        return self._segment


_store = _Store()
