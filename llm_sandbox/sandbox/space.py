"""How full the file system is that a path of a sandbox lies in."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from llm_sandbox.exceptions import ProtocolError
from llm_sandbox.sandbox.file_service import DeadlineConnection

if TYPE_CHECKING:
    from llm_sandbox.sandbox.sandbox import Sandbox

__all__ = ["Space", "measure_space"]

_LOOK_S = 2.0
_REPLY_BYTES = 1 << 12
_LEFT_OVER = 1 << 16
"""What a program that writes in pieces of a usual size leaves free."""


@dataclass(frozen=True, slots=True)
class Space:
    """One file system, as its kernel describes it."""

    size_bytes: int
    """Bytes that fit into it."""
    free_bytes: int
    """Bytes of them that are free."""
    inodes: int
    """Files and folders that fit into it; 0 where they are not counted."""
    free_inodes: int
    """How many more of them can be made."""

    @property
    def is_full(self) -> bool:
        """Whether no more bytes fit in, but for a few."""
        return self.free_bytes <= max(_LEFT_OVER, self.size_bytes // 100)

    @property
    def has_no_inode(self) -> bool:
        """Whether no more files can be made."""
        return self.inodes > 0 and self.free_inodes == 0


def measure_space(sandbox: "Sandbox", path: str) -> Space:
    """Ask the file service of a sandbox how full the file system of a path is.

    Raises:
        SandboxError: It could not be asked, or there is no such path.
    """
    reply = sandbox._service.call(
        "space", path, timeout_s=_LOOK_S, talk=_nothing, reply_bytes=_REPLY_BYTES
    )[1]
    # trust: numbers from inside, by a service of ours; only numbers are taken.
    names = ("size_bytes", "free_bytes", "inodes", "free_inodes")
    counts = [reply.get(name) for name in names]
    if any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in counts):
        raise ProtocolError("the sandbox's file service sent no sizes")
    return Space(**dict(zip(names, counts, strict=True)))  # type: ignore[arg-type]


def _nothing(line: DeadlineConnection) -> None:
    """Neither send nor receive bulk."""
