"""Journal of a run: the JSONL file of its results, from which it is resumed.

The first line is the header, each further one a `SampleResult`. A line is written by one system
call, so that a crash leaves at most the last one cut short, which the next run removes.
"""

import contextlib
import errno
import fcntl
import json
import os
import stat
import threading
import time
from array import array
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple, Self

from llm_sandbox.evaluation.journal_header import (
    check_agreement,
    encode,
    header_line,
    read_header,
)
from llm_sandbox.evaluation.results import SampleResult
from llm_sandbox.evaluation.verdict import Verdict
from llm_sandbox.exceptions import (
    FileError,
    NoSpaceError,
    SandboxFileExistsError,
    ValidationError,
)

__all__ = ["Journal", "JournalResults", "read_journal"]

_SYNC_S = 1.0
_BLOCK = 1 << 16
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class _Place(NamedTuple):
    """The line that counts of a sample."""

    key: str
    offset: int
    is_done: bool


class _Index:
    """Lines that count, by the id of the sample.

    Samples of one task may have the same code, and so the same key: the id tells them apart. A
    sample whose code was changed has a new key, and its old result no longer counts.
    """

    def __init__(self) -> None:
        self.places: dict[str, _Place] = {}
        self.unreadable = 0

    def add(self, result: SampleResult, offset: int) -> None:
        is_done = result.verdict is not Verdict.INFRA_ERROR
        old = self.places.get(result.id)
        if old is not None and old.key == result.key and old.is_done and not is_done:
            return
        self.places[result.id] = _Place(result.key, offset, is_done)

    def read(self, file: IO[bytes]) -> None:
        """Add the lines of a file from its position on; a half last line is left out."""
        offset = file.tell()
        for line in file:
            if not line.endswith(b"\n"):
                return
            result = _parse(line)
            if result is None:
                self.unreadable += 1
            else:
                self.add(result, offset)
            offset += len(line)

    def offsets(self) -> "array[int]":
        return array("q", sorted(place.offset for place in self.places.values()))


class JournalResults:
    """Results of a journal, one for each sample, in the order in which they were written.

    Each iteration reads them from the file: memory holds one result at a time. Lines that are
    added later are not part of it.

    Args:
        path: The journal.
        header: Its header.
        offsets: Positions of the lines that count.
        unreadable: Number of damaged lines.
    """

    def __init__(
        self, path: Path, header: Mapping[str, Any], offsets: "array[int]", unreadable: int = 0
    ) -> None:
        self.path = path
        self.header = header
        self.unreadable = unreadable
        self._offsets = offsets

    def __len__(self) -> int:
        return len(self._offsets)

    def __iter__(self) -> Iterator[SampleResult]:
        with self.path.open("rb") as file:
            for offset in self._offsets:
                file.seek(offset)
                result = _parse(file.readline())
                if result is None:
                    raise FileError(
                        f"{self.path} was changed while it was read",
                        path=str(self.path),
                        hint="read it again",
                    )
                yield result


def read_journal(path: str | os.PathLike[str]) -> JournalResults:
    """Return the results of a journal, which may be in use by a run.

    Raises:
        FileNotFoundError: There is no such file.
        ValidationError: The file is no journal, or one of another version.
    """
    place = Path(path)
    index = _Index()
    with place.open("rb") as file:
        header = read_header(file, place)
        if header is None:
            raise ValidationError(
                f"invalid journal: expected a header, {place} has none",
                parameter="path",
            )
        index.read(file)
    return JournalResults(place, header, index.offsets(), index.unreadable)


class Journal:
    """Journal of a run that is open for writing, by one process at a time; see `Journal.open`.

    Threads may share it. Forked processes keep the lock: they have to end, or execute another
    program, before another run can open the file.
    """

    def __init__(self, path: Path, fd: int, header: Mapping[str, Any], index: _Index) -> None:
        self.path = path
        self.header = header
        self.resumed = sum(place.is_done for place in index.places.values())
        """Number of samples that were done before."""
        self._fd = fd
        self._index = index
        self._lock = threading.Lock()
        self._synced_at = time.monotonic()
        self._is_dirty = True

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        header: Mapping[str, Any],
        *,
        resume: bool = False,
        overwrite: bool = False,
    ) -> Self:
        """Return the journal of a run, locked until it is closed or the process ends.

        Args:
            path: The file; created if it does not exist.
            header: Facts about the run, as JSON: at least ``dataset_sha256``, ``engine`` and
                ``limits``.
            resume: Whether to continue a run: what is done stays. The file keeps its own header.
            overwrite: Whether to replace a file that is not empty.

        Raises:
            FileError: Another run has the file open, or it cannot be written.
            NoSpaceError: The disk is full.
            SandboxFileExistsError: The file is not empty, and neither `resume` nor `overwrite` is
                given.
            ValidationError: The header is incomplete, or disagrees with that of the file; or the
                file is no journal.
        """
        if resume and overwrite:
            raise ValidationError(
                "invalid overwrite: expected False with resume=True, got True",
                parameter="overwrite",
            )
        line = header_line(header)
        place = Path(path)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK
        fd = os.open(place, flags, 0o666)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise ValidationError(
                    f"invalid path: expected a regular file, got {place}", parameter="path"
                )
            _lock(fd, place)
            index = _Index()
            known = _prepare(fd, place, line, index, resume=resume, overwrite=overwrite)
            return cls(place, fd, known, index)
        except BaseException:
            os.close(fd)
            raise

    def is_done(self, id: str, key: str) -> bool:
        """Return whether a sample has a result for this key; a failure of the sandbox is none."""
        place = self._index.places.get(id)
        return place is not None and place.is_done and place.key == key

    def __len__(self) -> int:
        return len(self._index.places)

    @property
    def unreadable(self) -> int:
        """Number of damaged lines; their samples are not done."""
        return self._index.unreadable

    def append(self, result: SampleResult) -> None:
        """Write a result.

        Raises:
            FileError: The file cannot be written, or the journal is closed.
            NoSpaceError: The disk is full. The journal stays as it was, and may be used further.
            ValidationError: The result has no id or no key, or its `meta` is not JSON.
        """
        line = _result_line(result)
        with self._lock:
            offset = _write(self._open_fd(), line, self.path)
            self._index.add(result, offset)
            self._is_dirty = True
            if time.monotonic() - self._synced_at >= _SYNC_S:
                self._sync()

    def results(self) -> JournalResults:
        """Return the results so far."""
        with self._lock:
            offsets = self._index.offsets()
        return JournalResults(self.path, self.header, offsets, self._index.unreadable)

    def sync(self) -> None:
        """Force what is written to the disk; `append` does it once a second, and `close`.

        Raises:
            FileError: The disk failed.
            NoSpaceError: The disk is full.
        """
        with self._lock:
            self._open_fd()
            self._sync()

    def close(self) -> None:
        """Force what is written to the disk, and unlock the file.

        Raises:
            FileError: The disk failed.
            NoSpaceError: The disk is full.
        """
        with self._lock:
            if self._fd < 0:
                return
            try:
                self._sync()
            finally:
                os.close(self._fd)
                self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        self.close()

    def _open_fd(self) -> int:
        if self._fd < 0:
            raise FileError(f"journal {self.path} is closed", path=str(self.path))
        return self._fd

    def _sync(self) -> None:
        if not self._is_dirty:
            return
        with _disk_errors(self.path):
            os.fsync(self._fd)
        self._synced_at, self._is_dirty = time.monotonic(), False


def _lock(fd: int, path: Path) -> None:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise FileError(
            f"{path} is in use by another run",
            path=str(path),
            hint=f"wait for it, or take another file; to find it: fuser {path}",
        ) from None


def _prepare(
    fd: int, path: Path, line: bytes, index: _Index, *, resume: bool, overwrite: bool
) -> Mapping[str, Any]:
    """Read or begin a locked journal; return its header."""
    size = os.fstat(fd).st_size
    if size and not resume and not overwrite:
        raise SandboxFileExistsError(
            f"{path} is not empty",
            path=str(path),
            hint="continue it with resume=True, replace it with overwrite=True, or take another "
            "file",
        )
    header: Mapping[str, Any] = json.loads(line)
    if resume and size:
        with os.fdopen(os.dup(fd), "rb") as file:
            known = read_header(file, path)
            if known is not None:
                check_agreement(known, header, path)
                index.read(file)
                _cut_half_line(fd, size, path)
                return known
    if size:
        os.ftruncate(fd, 0)
    _write(fd, line, path)
    return header


def _result_line(result: SampleResult) -> bytes:
    for name in ("id", "key"):
        if not getattr(result, name):
            raise ValidationError(f"invalid {name}: expected a text, got none", parameter=name)
    what = f"result of {result.id!r:.80}"
    try:
        data = result.to_json()
    except (TypeError, RecursionError) as error:
        raise ValidationError(f"invalid {what}: expected JSON: {error}") from None
    return encode(data, what)


def _parse(line: bytes) -> SampleResult | None:
    """Return the result of a line; None for a damaged line."""
    # trust: a line holds outputs of the candidate, as texts of a document that we wrote.
    try:
        data = json.loads(line)
        if not isinstance(data["id"], str) or not isinstance(data["key"], str):
            return None
        return SampleResult.from_json(data)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _write(fd: int, line: bytes, path: Path) -> int:
    """Write a line at the end, by one system call, or not at all; return its position."""
    # Not kept from the last call, since an exception of a signal may have come in between.
    offset = _cut_half_line(fd, os.fstat(fd).st_size, path)
    with _disk_errors(path):
        try:
            written = os.write(fd, line)
        except OSError:
            os.ftruncate(fd, offset)
            raise
        if written != len(line):
            os.ftruncate(fd, offset)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return offset


def _cut_half_line(fd: int, size: int, path: Path) -> int:
    """Cut off what follows the last newline; return the new size."""
    end = size
    while end:
        start = max(0, end - (1 if end == size else _BLOCK))
        newline = os.pread(fd, end - start, start).rfind(b"\n")
        if newline >= 0:
            end = start + newline + 1
            break
        end = start
    if end != size:
        with _disk_errors(path):
            os.ftruncate(fd, end)
    return end


@contextlib.contextmanager
def _disk_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise NoSpaceError(
                f"no space for {path}: {error.strerror}; every result before is kept",
                path=str(path),
                hint="make room, and run again with resume=True",
            ) from error
        raise FileError(f"{path} cannot be written: {error.strerror}", path=str(path)) from error
