"""A download through the gate, against the same one without it."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks.race import CorrectnessError, Race, Row, Target
from llm_sandbox.egress.gate import Gate
from llm_sandbox.egress.netns_sockets import open_netns_sockets
from llm_sandbox.exceptions import SandboxError
from llm_sandbox.network import NetworkRules

__all__ = ["races"]

_BYTES = 100_000_000
_NAME = "files.test"
_PACKAGE = Path(__file__).parents[1] / "llm_sandbox"

_SERVER = f"""
import socket, sys
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
block = memoryview(bytes(1 << 20))
while True:
    sock, _ = listener.accept()
    with sock:
        left = {_BYTES} if sock.recv(1) == b"g" else 0
        while left:
            left -= sock.send(block[:left])
"""

_CLIENT = """
import json, os, socket, sys, time
sys.path.insert(0, sys.argv[1])
from guest import linux
if sys.argv[2] == "inside":
    linux.unshare(linux.CLONE_NEWNET | (linux.CLONE_NEWUSER if os.geteuid() else 0))

def address(name):
    if name[0].isdigit():
        return name
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.connect(("10.0.0.1", 53))
        line.send(b"\\0\\1\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0" + labels + b"\\0\\0\\1\\0\\1")
        return socket.inet_ntoa(line.recv(512)[-4:])

print("ready", flush=True)
buffer = bytearray(1 << 18)
for line in sys.stdin:
    name, port = json.loads(line)
    started = time.perf_counter()
    with socket.create_connection((address(name), port)) as sock:
        sock.sendall(b"g")
        got = 0
        while size := sock.recv_into(buffer):
            got += size
            if got == size:
                first = time.perf_counter()
    print(json.dumps([got, first - started, time.perf_counter() - started]), flush=True)
"""


class _Contest:
    """A server, and a client on each side of a gate."""

    def __init__(self) -> None:
        self._ends = contextlib.ExitStack()
        self._clients: dict[str, subprocess.Popen[str]] = {}
        self._port = 0

    def _open(self) -> None:
        if self._clients:
            return
        server = self._start(_SERVER)
        self._port = int(_line(server))
        for side in ("outside", "inside"):
            self._clients[side] = self._start(_CLIENT, str(_PACKAGE), side)
            _line(self._clients[side])
        rules = NetworkRules.allow(hosts={_NAME: "127.0.0.1"})
        sockets = open_netns_sockets(self._clients["inside"].pid, rules)
        self._ends.enter_context(Gate.start(sockets, rules))

    def _start(self, code: str, *arguments: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", code, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._ends.callback(process.wait)
        self._ends.callback(process.kill)
        return process

    def missing(self) -> str | None:
        """Return why there can be no gate here."""
        try:
            self._open()
        except SandboxError as error:
            self.close()
            return error.message
        return None

    def direct(self) -> Mapping[str, float]:
        return self._download("outside", "127.0.0.1")

    def gate(self) -> Mapping[str, float]:
        return self._download("inside", _NAME)

    def _download(self, side: str, host: str) -> Mapping[str, float]:
        self._open()
        client = self._clients[side]
        assert client.stdin is not None
        client.stdin.write(json.dumps([host, self._port]) + "\n")
        client.stdin.flush()
        got, first, elapsed = json.loads(_line(client))
        if got != _BYTES:
            raise CorrectnessError(f"{got} bytes came of {_BYTES}")
        return {"first": first, "all": elapsed}

    def close(self) -> None:
        self._ends.close()
        self._clients.clear()


def _line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def races() -> list[Race]:
    """Return the races of this theme."""
    contest = _Contest()
    return [
        Race(
            name="gate",
            lanes={"ours": contest.gate, "direct": contest.direct},
            rows=(
                Row(
                    "download of 100 MB through the gate, on loopback",
                    "ours.all",
                    "direct.all",
                    Target("share", 2),
                    compared_with="the same without a gate",
                ),
                Row(
                    "its first bytes, the name looked up",
                    "ours.first",
                    "direct.first",
                    compared_with="the same by address, without a gate",
                ),
            ),
            rounds=15,
            quick_rounds=5,
            finish=contest.close,
            missing=contest.missing,
        )
    ]
