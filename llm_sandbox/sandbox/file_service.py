"""Client of the file service: one operation at a time, each with a deadline."""

import contextlib
import os
import select
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from llm_sandbox.exceptions import (
    ContainerGoneError,
    FileError,
    NoSpaceError,
    OutputLimitError,
    PathError,
    ProtocolError,
    SandboxError,
    SandboxFileExistsError,
    SandboxFileNotFoundError,
    SandboxIsADirectoryError,
    SandboxNotADirectoryError,
    SandboxPermissionError,
    SandboxTimeoutError,
    TransportError,
)
from llm_sandbox.guest.bulk import Connection, Record, SenderFailed
from llm_sandbox.host.guest_numbers import GuestErrno

if TYPE_CHECKING:
    from llm_sandbox.sandbox.sandbox import Sandbox

__all__ = ["DeadlineConnection", "DiskUsage", "FileService", "disk_usage", "file_error"]

_Value = TypeVar("_Value")

_REPLY_BYTES = 64 << 20

_BY_ERRNO: dict[int, type[FileError]] = {
    GuestErrno.ENOENT: SandboxFileNotFoundError,
    GuestErrno.EEXIST: SandboxFileExistsError,
    GuestErrno.EISDIR: SandboxIsADirectoryError,
    GuestErrno.ENOTDIR: SandboxNotADirectoryError,
    GuestErrno.EACCES: SandboxPermissionError,
    GuestErrno.EPERM: SandboxPermissionError,
    GuestErrno.EROFS: SandboxPermissionError,
    GuestErrno.ENOSPC: NoSpaceError,
    GuestErrno.EDQUOT: NoSpaceError,
    GuestErrno.ELOOP: PathError,
    GuestErrno.ENAMETOOLONG: PathError,
}


class DeadlineConnection(Connection):
    """Connection whose waits all end at `deadline`, on the monotonic clock."""

    deadline: float = 0.0

    def _send(self, data: bytes | memoryview) -> None:
        self._arm()
        super()._send(data)

    def _receive(self, view: memoryview) -> int:
        self._arm()
        return super()._receive(view)

    def _arm(self) -> None:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self.socket.settimeout(left)

    def is_dead(self) -> bool:
        """Return whether the peer is gone, or has sent bytes without a request."""
        poll = select.poll()
        poll.register(self.socket, select.POLLIN)
        return bool(poll.poll(0))


class FileService:
    """Client that starts the service and runs its operations.

    Args:
        connect: Function that starts a service and connects to it.
        backend: Name for error messages.
        activity: Callback: True when an operation begins, False when it has ended.
    """

    def __init__(
        self,
        connect: Callable[[], socket.socket],
        backend: str,
        activity: Callable[[bool], None] = lambda begins: None,
    ) -> None:
        self._connect = connect
        self._backend = backend
        self._activity = activity
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._line: DeadlineConnection | None = None
        self._started = 0

    @property
    def number(self) -> int:
        """Number of the connected service, counted from 1; 0 for none. Each one has its
        own state.
        """
        return self._started if self._line is not None else 0

    def call(
        self,
        op: str,
        path: str,
        *,
        timeout_s: float,
        talk: Callable[[DeadlineConnection], _Value],
        repeatable: bool = True,
        reply_bytes: int = _REPLY_BYTES,
        **fields: Any,
    ) -> tuple[_Value, Record]:
        """Run one operation.

        Args:
            op: Name of the operation.
            path: Path in the sandbox.
            timeout_s: Time limit in seconds.
            talk: Function that sends or receives bulk data.
            repeatable: Whether the operation may be repeated if the service dies meanwhile.
            reply_bytes: Maximum length of the last record.
            fields: Further arguments.

        Returns:
            Return value of `talk`, and the service's last record.

        Raises:
            FileError: The operation failed in the sandbox.
            SandboxTimeoutError: The operation took too long.
            TransportError: The service died.
        """
        if self._owner != os.getpid():
            raise ContainerGoneError(
                "the sandbox belongs to the process that this one was forked from",
                backend=self._backend,
            )
        deadline = time.monotonic() + timeout_s
        if not self._lock.acquire(timeout=timeout_s):
            raise self._too_slow(op, timeout_s)
        self._activity(True)
        try:
            for attempt in (1, 2):
                try:
                    line = self._line_now(deadline, sure=not repeatable)
                    line.send_record({"op": op, "path": path, **fields})
                    try:
                        value = talk(line)
                    except SenderFailed:
                        reply = line.receive_record(reply_bytes)
                        reply.setdefault("errno", GuestErrno.EIO)
                    else:
                        reply = line.receive_record(reply_bytes)
                    break
                except TimeoutError:
                    self._hang_up()
                    raise self._too_slow(op, timeout_s) from None
                except (EOFError, ConnectionError) as error:
                    self._hang_up()
                    if attempt == 2 or not repeatable:
                        raise TransportError(
                            f"the sandbox's file service ended during {op!r}: {error}",
                            op=op,
                            backend=self._backend,
                        ) from None
                except BaseException:
                    # The conversation was left halfway.
                    self._hang_up()
                    raise
        finally:
            self._activity(False)
            self._lock.release()
        if "errno" in reply:
            raise file_error(reply, path, op)
        return value, reply

    def start(self) -> None:
        """Start the service, if it is not running, ahead of the next operation."""
        with self._lock:
            if self._line is None and self._owner == os.getpid():
                self._line = self._open()

    def _line_now(self, deadline: float, *, sure: bool) -> DeadlineConnection:
        if self._line is not None and self._line.is_dead():
            self._hang_up()
        if self._line is not None and sure:
            # A service that was just killed may not look dead yet.
            try:
                self._line.deadline = deadline
                self._line.send_record({"op": "ping", "path": ""})
                self._line.receive_record()
            except (EOFError, ConnectionError):
                self._hang_up()
        if self._line is None:
            self._line = self._open()
        self._line.deadline = deadline
        return self._line

    def _open(self) -> DeadlineConnection:
        line = DeadlineConnection(self._connect())
        self._started += 1
        return line

    def _hang_up(self) -> None:
        if self._line is not None:
            self._line.socket.close()
            self._line = None

    def _too_slow(self, op: str, timeout_s: float) -> SandboxTimeoutError:
        return SandboxTimeoutError(
            f"the file operation {op!r} took more than {timeout_s:g} s",
            timeout_s,
            op=op,
            backend=self._backend,
        )

    def close(self) -> None:
        """Disconnect; a running operation ends with an error."""
        line = self._line
        if line is not None:
            with contextlib.suppress(OSError):
                line.socket.shutdown(socket.SHUT_RDWR)
        with self._lock:
            self._hang_up()


def file_error(reply: Record, path: str, op: str) -> SandboxError:
    """Return the exception for a reply that reports a failure."""
    # trust: the reply comes from inside; its words are shown, its number only chooses a class.
    number, said = reply.get("errno"), str(reply.get("message", ""))[:300]
    if not isinstance(number, int):
        return ProtocolError("the sandbox's file service reported an invalid error", op=op)
    message = f"{op} {path!r}: {said}"
    if number in (GuestErrno.EFBIG, GuestErrno.EOVERFLOW) and op in ("write", "receive_tree"):
        return NoSpaceError(message, path=path, op=op)
    if number in (GuestErrno.EFBIG, GuestErrno.EOVERFLOW):
        return OutputLimitError(message, op=op)
    return _BY_ERRNO.get(number, FileError)(message, path=path, op=op)


_LOOK_S = 2.0
_USAGE_REPLY_BYTES = 1 << 12
_LEFT_OVER = 1 << 16
"""Free bytes below which a file system counts as full: a program that writes in blocks leaves some
free.
"""


@dataclass(frozen=True, slots=True)
class DiskUsage:
    """Usage of one file system, as its kernel reports it."""

    size_bytes: int
    """Size in bytes."""
    free_bytes: int
    """Free bytes."""
    inodes: int
    """Number of inodes; 0 where they are not counted."""
    free_inodes: int
    """Number of free inodes."""

    @property
    def is_full(self) -> bool:
        """Whether almost no bytes are free."""
        return self.free_bytes <= max(_LEFT_OVER, self.size_bytes // 100)

    @property
    def has_no_inode(self) -> bool:
        """Whether no inode is free."""
        return self.inodes > 0 and self.free_inodes == 0


def disk_usage(sandbox: "Sandbox", path: str) -> DiskUsage:
    """Return the usage of the file system of a path in a sandbox.

    Raises:
        SandboxError: The file service could not answer, or the path does not exist.
    """
    reply = sandbox._service.call(
        "space", path, timeout_s=_LOOK_S, talk=_nothing, reply_bytes=_USAGE_REPLY_BYTES
    )[1]
    # trust: numbers from inside, by a service of ours; only numbers are taken.
    names = ("size_bytes", "free_bytes", "inodes", "free_inodes")
    counts = [reply.get(name) for name in names]
    if any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in counts):
        raise ProtocolError("the sandbox's file service sent no sizes")
    return DiskUsage(**dict(zip(names, counts, strict=True)))  # type: ignore[arg-type]


def _nothing(line: DeadlineConnection) -> None:
    """Transfer no bulk data."""
