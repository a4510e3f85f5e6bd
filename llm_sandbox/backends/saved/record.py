"""What is noted of a snapshot beside its archives."""

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from llm_sandbox.backends.snapshot import Snapshot

__all__ = ["Part", "SavedRecord"]

_FORMAT = 1


@dataclass(frozen=True)
class Part:
    """One archive of a snapshot."""

    size: int
    """Its bytes."""
    digest: str
    """Its SHA-256, hexadecimal."""


@dataclass(frozen=True)
class SavedRecord:
    """A snapshot, and the archives that it is."""

    snapshot: Snapshot
    parts: Mapping[str, Part]
    """``workdir``, the directory that was saved, and ``root``, what was changed in a writable
    root."""

    def to_json(self) -> bytes:
        """Return it as the content of its file."""
        data = {
            "format": _FORMAT,
            "snapshot": self.snapshot.to_dict(),
            "parts": {name: asdict(part) for name, part in self.parts.items()},
        }
        return json.dumps(data).encode()

    @classmethod
    def from_json(cls, text: bytes, ref: str) -> "SavedRecord | None":
        """Read the content of a file; None for what is no record of that snapshot."""
        # trust: another program of this user's may have put anything there.
        try:
            data = json.loads(text)
            if data["format"] != _FORMAT:
                return None
            parts = {
                str(name): Part(int(part["size"]), str(part["digest"]))
                for name, part in data["parts"].items()
            }
            found = cls(Snapshot.from_dict(data["snapshot"]), parts)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None
        inside = (found.snapshot.path or "").split("/")
        whole = found.snapshot.ref == ref and "workdir" in parts and ".." not in inside
        return found if whole else None

    def is_expired(self, now: float | None = None) -> bool:
        """Whether its time to live is over."""
        ends = self.snapshot.expires_at
        return ends is not None and ends <= (time.time() if now is None else now)
