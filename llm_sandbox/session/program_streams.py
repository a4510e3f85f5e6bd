"""The streams of a whole program: what it writes is taken in the order in which it came, what it
reads is given line by line.
"""

import collections
import select
import threading
from collections.abc import Iterator

from llm_sandbox.host.wake import Wake
from llm_sandbox.kernel.output_buffer import OutputBuffer, StreamName
from llm_sandbox.kernel.stop import Stop
from llm_sandbox.sandbox import Process
from llm_sandbox.sandbox.streams import OutputStream, iterate_bytes

__all__ = ["Tail", "Words", "follow_program"]

_MOST_WORDS = 1 << 20
_LONGEST_END = 64 << 10


class Words:
    """What a compiler writes, kept for its reader."""

    def __init__(self) -> None:
        self._kept = bytearray()

    def add(self, name: StreamName, data: bytes) -> None:
        """Take what came from one of its streams."""
        del name
        self._kept += data[: max(0, _MOST_WORDS - len(self._kept))]

    def add_dropped(self, name: StreamName, count: int) -> None:
        """Take how much of a stream was dropped before."""

    @property
    def text(self) -> str:
        """All of it, up to a megabyte."""
        return self._kept.decode("utf-8", "backslashreplace")


class Tail:
    """Passes on what a program puts out, and keeps the end of its standard error.

    Args:
        collector: Gets it.
    """

    def __init__(self, collector: OutputBuffer) -> None:
        self._collector = collector
        self._end = b""

    def add(self, name: StreamName, data: bytes) -> None:
        """Take what came from one of its streams."""
        self._collector.add_bytes(name, data)
        if name == "stderr":
            self._end = (self._end + data[-_LONGEST_END:])[-_LONGEST_END:]

    def add_dropped(self, name: StreamName, count: int) -> None:
        """Take how much of a stream was dropped before."""
        self._collector.add_dropped({name: count})

    @property
    def text(self) -> str:
        """The end of its standard error."""
        return self._end.decode("utf-8", "backslashreplace")


def follow_program(
    process: Process, heard_by: Words | Tail, stdin: Iterator[str] | None, stop: Stop | None
) -> bool:
    """Gather what a program puts out until it has ended; returns whether it was stopped."""
    heard = _Heard(process)
    feeder = _Feeder(process, stdin) if process.stdin is not None and stdin is not None else None
    stopped = False
    try:
        while heard.is_open:
            if heard.wait(None if stopped else stop):
                stopped = True
                process.kill()
            for name, data in heard.take():
                heard_by.add(name, data)
        process.wait()
    except BaseException:
        process.kill()
        raise
    finally:
        heard.close()
    for name, stream in (("stdout", process.stdout), ("stderr", process.stderr)):
        heard_by.add_dropped(name, stream.dropped_bytes)
    if feeder is not None and feeder.failure is not None:
        raise feeder.failure
    return stopped


class _Heard:
    """Both outputs of a program, brought to one thread in the order in which they came."""

    def __init__(self, process: Process) -> None:
        self._pieces: collections.deque[tuple[StreamName, bytes]] = collections.deque()
        self._wake = Wake()
        self._threads = [
            threading.Thread(target=self._hear, args=pair, name="llm-sandbox-hear", daemon=True)
            for pair in (("stdout", process.stdout), ("stderr", process.stderr))
        ]
        self._left = len(self._threads)
        for thread in self._threads:
            thread.start()

    def _hear(self, name: StreamName, stream: OutputStream) -> None:
        for data in iterate_bytes(stream):
            self._pieces.append((name, data))
            self._wake.set()
        self._pieces.append((name, b""))
        self._wake.set()

    @property
    def is_open(self) -> bool:
        """Whether more may come."""
        return self._left > 0

    def wait(self, stop: Stop | None) -> bool:
        """Wait until something came, or `stop` is asked; returns whether it was."""
        poll, wake = select.poll(), self._wake.fileno()
        poll.register(wake, select.POLLIN)
        if stop is not None:
            poll.register(stop, select.POLLIN)
        ready = [fd for fd, _ in poll.poll()]
        if wake in ready:
            self._wake.clear()
        return any(fd != wake for fd in ready)

    def take(self) -> Iterator[tuple[StreamName, bytes]]:
        """What has come."""
        while self._pieces:
            name, data = self._pieces.popleft()
            if data:
                yield name, data
            else:
                self._left -= 1

    def close(self) -> None:
        """Wait for the threads, which end when the program's streams do."""
        for thread in self._threads:
            thread.join()
        self._wake.close()


class _Feeder:
    """Writes lines to a program, no faster than it reads them."""

    def __init__(self, process: Process, lines: Iterator[str]) -> None:
        self.failure: BaseException | None = None
        self._process = process
        self._lines = lines
        threading.Thread(target=self._feed, name="llm-sandbox-feed", daemon=True).start()

    def _feed(self) -> None:
        stream = self._process.stdin
        assert stream is not None
        try:
            for line in self._lines:
                stream.write(f"{line}\n")
                stream.drain()
        except BrokenPipeError:
            return  # it reads no more
        except BaseException as error:  # noqa: BLE001 - raised in the calling thread
            self.failure = error
            self._process.kill()
        finally:
            stream.write_eof()
