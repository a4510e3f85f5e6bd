"""What of a long output goes into a result."""

from dataclasses import dataclass
from typing import Literal

from llm_sandbox.sandbox.spool import Spool
from llm_sandbox.sandbox.streams import decode

__all__ = ["Excerpt", "Keep", "make_excerpt"]

Keep = Literal["head", "tail", "both"]


@dataclass(frozen=True)
class Excerpt:
    """A stream's text as a result has it."""

    text: str
    dropped_bytes: int
    """Bytes of the stream that are not in the text."""

    @property
    def truncated(self) -> bool:
        """Whether anything is left out."""
        return self.dropped_bytes > 0


def make_excerpt(spool: Spool, max_chars: int | None, keep: Keep) -> Excerpt:
    """Choose what is shown of a stream.

    Args:
        spool: The stream.
        max_chars: Characters at most; None for all that was kept.
        keep: Which part: its start, its end, or half of each with a line between them that says
            what is missing.
    """
    start, end, total = spool.peek()
    if len(start) == total:
        text = decode(start)
        if max_chars is None or len(text) <= max_chars:
            return Excerpt(text, 0)
        end = start
    else:
        # Of a stream over the cap only its last piece follows the start.
        text = decode(start)
    most = len(text) if max_chars is None else max_chars
    if keep == "head":
        head, tail = text[:most], ""
    else:
        # A character may be cut where the kept end begins; at most three of its bytes are there.
        ending = text if end is start else decode(end.lstrip(bytes(range(0x80, 0xC0))))
        wanted = most if keep == "tail" else most - most // 2
        tail = ending[max(0, len(ending) - wanted) :]
        head = "" if keep == "tail" else text[: most // 2]
    dropped = max(1, total - _size(head) - _size(tail))
    if keep == "both":
        head += f"\n[... {dropped} bytes left out ...]\n"
    return Excerpt(head + tail, dropped)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
