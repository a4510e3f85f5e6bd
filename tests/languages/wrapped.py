"""Real wrapper kernels around a small interpreter of the tests' own."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llm_sandbox.guest import frames

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PACKAGE = Path(__file__).resolve().parents[2] / "llm_sandbox"
WAIT_S = 60.0

# Runs code that is Python, with `say` to speak as any interpreter would, well or badly.
INTERPRETER = """
import os, signal, sys, time

requests = os.fdopen(3, "rb")
seen = []

def send(data):
    while data:
        data = data[os.write(4, data):]

def say(kind, **fields):
    for name, value in (("kind", kind), *fields.items()):
        value = value if isinstance(value, bytes) else str(value).encode()
        send(b"%s %d\\n%s\\n" % (name.encode(), len(value), value))
    send(b"\\n")

def hear():
    message = {}
    while True:
        line = requests.readline()
        if not line:
            sys.exit()
        if line == b"\\n":
            return message
        name, size = line.split()
        message[name.decode()] = requests.read(int(size))
        requests.read(1)

def show(**fields):
    sys.stdout.flush()
    say("display", **fields)
    assert hear()["kind"] == b"ack"

say("ready")
names = {**globals()}
while True:
    message = hear()
    seen.append(message)
    if message["kind"] == b"set":
        name, value = message["name"].decode(), message.get("value")
        os.environ.pop(name, None) if value is None else os.environ.update({name: value.decode()})
    elif message["kind"] == b"run":
        status = "ok"
        try:
            exec(message["code"].decode(), names)
        except BaseException as error:
            sys.stdout.flush()
            say("error", name=type(error).__name__, value=error, traceback="the trace")
            assert hear()["kind"] == b"ack"
            status = "error"
        sys.stdout.flush()
        say("done", status=status)
"""


class Wrapped:
    """A wrapper kernel, and the host's end of its stream.

    Args:
        argv: The interpreter's command line.
        env: Its environment besides PATH.
    """

    def __init__(self, argv: Sequence[str], env: dict[str, str] | None = None) -> None:
        start = (
            f"import sys; sys.path.insert(0, {str(PACKAGE)!r}); "
            f"from guest import wrapper; wrapper.main({list(argv)!r})"
        )
        self.stream, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", start],
                stdin=theirs,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env={"PATH": os.environ["PATH"], **(env or {})},
            )
        self.stream.settimeout(WAIT_S)
        self._reader = frames.FrameReader()
        self._numbers = 0

    def send(self, kind: str, content: dict[str, Any], channel: int = frames.SHELL) -> str:
        """Send a message; returns its number."""
        self._numbers += 1
        header = {"msg_id": str(self._numbers), "msg_type": kind}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content}
        self.stream.sendall(b"".join(frames.encode(channel, message)))
        return header["msg_id"]

    def begin(self, code: str, *, stdin: bool = False, silent: bool = False) -> str:
        """Have it run code."""
        content = {"code": code, "allow_stdin": stdin, "store_history": not silent}
        return self.send("execute_request", content)

    def heard(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Kind and content of each message until the stream ends."""
        while True:
            for frame in self._reader:
                frames.restore_bulk(frame.message, frame.buffers)
                yield frame.message["header"]["msg_type"], frame.message["content"]
            try:
                data = self.stream.recv(1 << 18)
            except ConnectionResetError:
                return
            if not data:
                return
            self._reader.feed(data)

    def finish(self, stdin: Sequence[str] = ()) -> list[tuple[str, dict[str, Any]]]:
        """Everything until it is idle, or has ended; answers its wishes for input."""
        lines, found = iter(stdin), []
        for kind, content in self.heard():
            if kind == "input_request":
                value = next(lines, "\x04")
                self.send("input_reply", {"value": value}, frames.STDIN)
            found.append((kind, content))
            if kind == "status" and content["execution_state"] == "idle":
                break
        return found

    def run(
        self, code: str, stdin: Sequence[str] | None = None
    ) -> list[tuple[str, dict[str, Any]]]:
        """Run code to its end."""
        self.begin(code, stdin=stdin is not None)
        return self.finish(stdin or ())

    def interrupt(self) -> None:
        """What a timeout does first."""
        self.process.send_signal(signal.SIGINT)

    def end(self) -> tuple[int, str]:
        """Wait for its end; returns how it ended and its own words."""
        _, words = self.process.communicate(timeout=WAIT_S)
        return self.process.returncode, words.decode()

    def close(self) -> None:
        """Hang up."""
        self.stream.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        assert self.process.stderr is not None
        self.process.stderr.close()


def text(messages: list[tuple[str, dict[str, Any]]], name: str = "stdout") -> str:
    """What was written to a stream."""
    return "".join(
        content["text"]
        for kind, content in messages
        if (kind, content.get("name")) == ("stream", name)
    )


def reply(messages: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """The reply among messages."""
    (found,) = [content for kind, content in messages if kind == "execute_reply"]
    return found


def is_gone(pid: int, within_s: float = 20.0) -> bool:
    """Whether a process ends in time."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], within_s)[0])
    finally:
        os.close(descriptor)


def wait_for(path: Path) -> str:
    """The content of a file, when there is some."""
    limit = time.monotonic() + WAIT_S
    while time.monotonic() < limit:
        if path.exists() and path.read_text():
            return path.read_text()
        time.sleep(0.01)
    raise AssertionError(f"{path.name} was not written")
