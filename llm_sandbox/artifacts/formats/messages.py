"""Wording of what is wrong with a file, shared by all kinds."""

from llm_sandbox.artifacts.identify import identify
from llm_sandbox.artifacts.registry import load

__all__ = ["HEAVY", "cut_short", "joined", "missing", "sized", "trailing", "unpacked"]

HEAVY = 512 * 1024**2
"""Content that needs more memory than this to be shown is worth a warning."""

_LOOK = 4096


def joined(*sentences: str) -> str:
    """Return the sentences that are not empty, as one."""
    return "; ".join(sentence for sentence in sentences if sentence)


def cut_short(reason: str) -> str:
    """Return that a file ends too early.

    Args:
        reason: What shows it.
    """
    return f"cut short: {reason}"


def missing(content: bytes, end: int, what: str) -> str:
    """Return that something ends past the end of the file; empty when it does not.

    Args:
        content: A file, possibly hostile.
        end: Where its header says that something ends.
        what: The name of that something.
    """
    if end <= len(content):
        return ""
    return cut_short(f"{what} ends {_bytes(end - len(content))} after the file does")


def trailing(content: bytes, end: int) -> str:
    """Return what follows the end that a file gives itself; empty when nothing does.

    Args:
        content: A file, possibly hostile.
        end: Where its format says that it ends.
    """
    count = len(content) - end
    if end <= 0 or count <= 0:
        return ""
    # trust: whatever was put behind a file; it is named, so that nobody takes it for the file.
    found = identify(content[end : end + _LOOK])
    named = "" if found.kind in ("text", "data") else f" ({load(found.kind).label or found.mime})"
    return f"{_bytes(count)} follow its end{named}" if count > 1 else "1 byte follows its end"


def unpacked(size: int, verb: str = "decode") -> str:
    """Return how much memory a file takes to be read; empty when that is not much.

    Args:
        size: Bytes of the content once it is unpacked.
        verb: What takes them.
    """
    return f"would need {sized(size)} to {verb}" if size > HEAVY else ""


def sized(size: int) -> str:
    """Return a number of bytes for people.

    Args:
        size: The number, however large.
    """
    for power, unit in ((12, "TB"), (9, "GB"), (6, "MB"), (3, "KB")):
        if size >= 10**power:
            # Integers throughout: a claimed size may be larger than any float.
            tenths = size * 10 // 10**power
            return f"{tenths // 10:,}.{tenths % 10} {unit}"
    return _bytes(size)


def _bytes(count: int) -> str:
    return "1 byte" if count == 1 else f"{count:,} bytes"
