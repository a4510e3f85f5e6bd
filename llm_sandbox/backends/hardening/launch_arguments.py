"""Arguments of a launch: files in memory, and a user number that nobody has."""

import os

__all__ = ["text_descriptor", "unused_user"]


def text_descriptor(text: str) -> int:
    """Return a descriptor of a file in memory, at its beginning."""
    fd = os.memfd_create("llm-sandbox", 0)
    os.write(fd, text.encode())
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def unused_user(lowest: int) -> int:
    """Return a random user number from `lowest` up, for a sandbox that root starts."""
    return lowest + int.from_bytes(os.urandom(3), "little")
