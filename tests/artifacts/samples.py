"""Four files of each kind: a good one, a cut one, one that claims too much, and one that lies."""

from dataclasses import dataclass, field
from pathlib import Path

from llm_sandbox.artifacts.base import Dimensions

__all__ = ["CORPUS", "PAGE", "ZIP", "Samples", "corpus"]

CORPUS = Path(__file__).parent / "corpus"
"""Small files made by independent writers: ffmpeg, h5py, py7zr, zstandard."""

PAGE = b"<!DOCTYPE html><body><script>alert(1)</script></body>"
ZIP = b"PK\x05\x06" + bytes(18)
"""An archive without files."""


@dataclass(frozen=True)
class Samples:
    """What is expected of the four files of a kind."""

    name: str
    """What a file of this kind is called."""
    good: bytes
    facts: Dimensions
    cut: bytes
    cut_note: str
    giant: bytes
    """It claims a giant size, or is larger than is looked at."""
    giant_facts: Dimensions
    giant_note: str
    lie: bytes = PAGE
    """Something else, under the name and the MIME type of this kind."""
    lie_kind: str = "html"
    lie_holds: str = "HTML"
    note: str = ""
    """What is said of a good file."""
    cut_kind: str = ""
    """What the cut file is; empty for this kind."""
    giant_kind: str = ""
    """What the file with the claim is; empty for this kind."""
    others: dict[str, bytes] = field(default_factory=dict)
    """Further good files, by their names."""


def corpus(name: str) -> bytes:
    return (CORPUS / name).read_bytes()
