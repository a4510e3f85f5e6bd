"""Warnings about a file, shared by all kinds."""

from llm_sandbox.artifacts.identify import identify
from llm_sandbox.artifacts.registry import load

__all__ = ["HEAVY", "cut_short", "joined", "missing", "sized", "trailing", "unpacked"]

HEAVY = 512 * 1024**2
"""Memory use of content, in bytes, above which there is a warning."""

_LOOK = 4096


def joined(*sentences: str) -> str:
    """Return the non-empty sentences, joined."""
    return "; ".join(sentence for sentence in sentences if sentence)


def cut_short(reason: str) -> str:
    """Return the warning that a file is truncated.

    Args:
        reason: Evidence of the truncation.
    """
    return f"cut short: {reason}"


def missing(content: bytes, end: int, what: str) -> str:
    """Return the warning that something ends past the end of the file; empty when it does not.

    Args:
        content: A file, possibly hostile.
        end: Claimed end offset.
        what: Name of the thing.
    """
    if end <= len(content):
        return ""
    return cut_short(f"{what} ends {_bytes(end - len(content))} after the file does")


def trailing(content: bytes, end: int) -> str:
    """Return the warning about data after the end of the format; empty when there is none.

    Args:
        content: A file, possibly hostile.
        end: End offset according to the format.
    """
    count = len(content) - end
    if end <= 0 or count <= 0:
        return ""
    # trust: whatever was put behind a file; it is named, so that nobody takes it for the file.
    found = identify(content[end : end + _LOOK])
    named = "" if found.kind in ("text", "data") else f" ({load(found.kind).label or found.mime})"
    return f"{_bytes(count)} follow its end{named}" if count > 1 else "1 byte follows its end"


def unpacked(size: int, verb: str = "decode") -> str:
    """Return the warning about the memory that a file needs when read; empty when it is small.

    Args:
        size: Size of the unpacked content in bytes.
        verb: Verb of the operation.
    """
    return f"would need {sized(size)} to {verb}" if size > HEAVY else ""


def sized(size: int) -> str:
    """Return a human-readable number of bytes.

    Args:
        size: The number, of any size.
    """
    for power, unit in ((12, "TB"), (9, "GB"), (6, "MB"), (3, "KB")):
        if size >= 10**power:
            # Integers throughout: a claimed size may be larger than any float.
            tenths = size * 10 // 10**power
            return f"{tenths // 10:,}.{tenths % 10} {unit}"
    return _bytes(size)


def _bytes(count: int) -> str:
    return "1 byte" if count == 1 else f"{count:,} bytes"
