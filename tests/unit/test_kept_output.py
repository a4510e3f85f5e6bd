"""Output that a pod keeps for clients that come later, within its limits."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.guest import kept_output
from llm_sandbox.guest.kept_output import MOST_OF_STREAM, Output, Store

if TYPE_CHECKING:
    from collections.abc import Iterator

PIECE = b"0123456789abcdef" * 4096


class Pipe:
    """A stream with its writer, and readers that follow it."""

    def __init__(self, store: Store) -> None:
        source, self.writer = os.pipe()
        self.output = Output(source, store)
        self.readers: list[int] = []

    def write(self, size: int) -> None:
        """Write bytes, and have the output read them."""
        while size > 0:
            size -= os.write(self.writer, PIECE[:size])
            self.output.read()

    def follow(self) -> int:
        """Add a follower, and return the descriptor to read from."""
        read, write = os.pipe()
        os.set_blocking(read, False)
        self.readers.append(read)
        self.output.follow(write)
        return read

    def read_all(self, reader: int) -> bytes:
        """Return all that a follower gets now."""
        found = b""
        follower = next(one for one in self.output.followers if one.fd != -1)
        while self.output.is_behind(follower):
            self.output.write(follower)
            with contextlib.suppress(BlockingIOError):
                while data := os.read(reader, 1 << 16):
                    found += data
        return found

    def close(self) -> None:
        self.output.forget()
        for fd in (self.writer, *self.readers):
            os.close(fd)


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    made = Pipe(Store(lambda: False))
    yield made
    made.close()


def test_a_late_follower_gets_all_that_is_kept(pipe: Pipe) -> None:
    pipe.write(300_000)
    assert len(pipe.read_all(pipe.follow())) == 300_000


def test_what_is_missing_is_noted(pipe: Pipe) -> None:
    """Start and end are there, and between them is the number of the missing bytes."""
    beyond = 1_000_000
    pipe.write(MOST_OF_STREAM + beyond)
    found = pipe.read_all(pipe.follow())
    start, _, rest = found.partition(b"\n[")
    number, _, end = rest.partition(b" bytes were not kept]\n")
    assert len(start) == MOST_OF_STREAM
    assert len(start) + int(number) + len(end) == MOST_OF_STREAM + beyond
    assert int(number) > 0


def test_a_follower_that_reads_nothing_holds_the_program_up(pipe: Pipe) -> None:
    """Who is connected misses nothing: the source is not read any further."""
    pipe.follow()
    pipe.write(300_000)
    assert not pipe.output.wants_more
    pipe.output.followers[0].close()
    pipe.output.sweep()
    assert pipe.output.wants_more  # the control: nobody waits


def test_all_streams_have_one_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Older output is forgotten for newer, and where there is none, no more is kept."""
    monkeypatch.setattr(kept_output, "MOST", 100_000)
    older: list[Pipe] = []

    def make_room() -> bool:
        if not older:
            return False
        older.pop().close()
        return True

    store = Store(make_room)
    older.append(Pipe(store))
    older[0].write(80_000)
    newer = Pipe(store)
    newer.write(90_000)
    assert older == []
    assert store.used == 90_000
    newer.write(90_000)
    assert store.used == 100_000
    newer.close()
    assert store.used == 0
