"""Bounded log of refused and failed attempts of a sandbox, with counters."""

import time
from typing import Any

__all__ = ["EventLog"]

_MOST = 1000
_LONGEST = 300


class EventLog:
    """The last kinds of attempts, each with its count."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._kept: dict[tuple[object, ...], dict[str, Any]] = {}
        self.last = 0
        self.denied = 0

    def add(
        self,
        protocol: str,
        reason: str,
        *,
        name: str | None = None,
        address: object = None,
        port: int | None = None,
        detail: str = "",
        verdict: str = "denied",
    ) -> dict[str, Any]:
        """Record an attempt, and return its record."""
        # trust: names and details come from inside: truncated, and bounded in number.
        name = None if name is None else name[:_LONGEST]
        shown = None if address is None else str(address)
        key = (protocol, reason, name, shown, port, detail)
        before = self._kept.pop(key, None)
        self.last += 1
        self.denied += verdict == "denied"
        record = self._kept[key] = {
            "number": self.last,
            "time": time.time(),
            "protocol": protocol,
            "verdict": verdict,
            "reason": reason,
            "name": name,
            "address": shown,
            "port": port,
            "detail": detail[:_LONGEST],
            "count": 1 + (before["count"] if before is not None else 0),
        }
        if len(self._kept) > self._most:
            del self._kept[next(iter(self._kept))]
        return record

    def events(self) -> list[dict[str, Any]]:
        """Return the recorded attempts, the oldest first."""
        return list(self._kept.values())
