"""Event logs: numbered events of one piece of work, followed by any number of clients."""

import json
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

from llm_sandbox.server.followers import Follower

__all__ = ["Event", "EventLog"]

_MOST_BYTES = 8 << 20
_MOST_EVENTS = 16_384
_PATIENCE_S = 60.0
_LOOK_S = 1.0


@dataclass(frozen=True)
class Event:
    """Event of a run or an evaluation."""

    number: int
    """Number in its log, from 1; 0 for one that only tells a client what it has missed."""
    name: str
    """Kind of event."""
    data: str
    """Facts, as JSON."""


class EventLog:
    """Events of which the last ones are kept. Thread-safe.

    A writer waits while a client has not yet been sent the oldest event, a minute at most: memory
    is bounded, and what a program writes is held up instead.
    """

    def __init__(self) -> None:
        self._events: deque[Event] = deque()
        self._size = 0
        self._next = 1
        self._changed = threading.Condition()
        self._places: dict[Follower, int] = {}
        self.is_over = False
        """Whether no event will be added."""

    @property
    def count(self) -> int:
        """Number of events so far."""
        return self._next - 1

    def add(self, name: str, facts: Mapping[str, object]) -> None:
        """Add an event.

        Args:
            name: Its kind.
            facts: Its facts, JSON-able.
        """
        data = json.dumps(facts, allow_nan=False)
        limit = time.monotonic() + _PATIENCE_S
        with self._changed:
            while self._is_full(len(data)) and time.monotonic() < limit:
                if min(self._places.values(), default=self._next) >= self._events[0].number:
                    break
                self._changed.wait(_LOOK_S)
            while self._is_full(len(data)):
                self._size -= len(self._events.popleft().data)
            self._events.append(Event(self._next, name, data))
            self._size += len(data)
            self._next += 1
        self._wake()

    def close(self) -> None:
        """Add no more events."""
        self.is_over = True
        self._wake()

    def _wake(self) -> None:
        with self._changed:
            followers = list(self._places)
        for follower in followers:
            follower.wake()

    def _is_full(self, more: int) -> bool:
        return bool(self._events) and (
            self._size + more > _MOST_BYTES or len(self._events) >= _MOST_EVENTS
        )

    def forget(self) -> None:
        """Drop all events, when nobody is expected to ask for them."""
        with self._changed:
            self._events.clear()
            self._size = 0

    async def follow(self, after: int, silence_s: float) -> AsyncIterator[Event | None]:
        """Yield events as they come, to the last; None after each silence.

        Args:
            after: Number of the last event that the client has; 0 for none. Where events after it
                are no longer kept, an event ``gap`` says how many.
            silence_s: Length of a silence, in seconds.
        """
        follower = Follower()
        place = after
        with self._changed:
            self._places[follower] = place
        try:
            while True:
                follower.clear()
                with self._changed:
                    is_over = self.is_over
                    first = self._events[0].number if self._events else self._next
                    ready = [one for one in self._events if one.number > place]
                if place < first - 1:
                    yield Event(0, "gap", json.dumps({"events": first - 1 - place}))
                    place = first - 1
                for event in ready:
                    yield event
                    place = event.number
                    with self._changed:
                        self._places[follower] = place
                        self._changed.notify_all()
                if is_over:
                    return
                if not ready and not await follower.wait(silence_s):
                    yield None
        finally:
            with self._changed:
                self._places.pop(follower, None)
                self._changed.notify_all()
