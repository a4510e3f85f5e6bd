"""Sandbox by bubblewrap and its gate, started by an ordinary user. Prints JSON.

    python as_user.py PACKAGE_FOLDER BWRAP

A program of its own: it runs as another user than the tests, from a copy that this one may read.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

sys.path.insert(0, sys.argv[1])

import socket

from llm_sandbox.egress.gate import Gate
from llm_sandbox.egress.netns_sockets import open_netns_sockets
from llm_sandbox.network import NetworkRules

INSIDE = (Path(__file__).parent / "inside.py").read_text()


def serve() -> int:
    """A server on the host's loopback."""
    listener = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        while True:
            sock, _ = listener.accept()
            with sock:
                sock.sendall(b"reached the host\n")

    threading.Thread(target=accept, daemon=True).start()
    return int(listener.getsockname()[1])


class Sandbox:
    """A bubblewrap that starts Python over and over."""

    def __init__(self, bwrap: str, *, nested: bool) -> None:
        reads, writes = os.pipe()
        words = [bwrap, "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/"]
        words += ["--proc", "/proc", "--dev", "/dev", "--info-fd", str(writes)]
        # With a limit on user namespaces bubblewrap nests a second one, which owns nothing.
        words += ["--unshare-user", "--disable-userns"] if nested else []
        loop = (
            "import subprocess, sys\n"
            "for line in sys.stdin:\n"
            "    done = subprocess.run([sys.executable, '-I', '-S', '-c', sys.argv[1], line],"
            " capture_output=True, text=True)\n"
            "    print((done.stdout or repr(done.stderr)).strip(), flush=True)\n"
        )
        self.process = subprocess.Popen(
            [*words, "--", sys.executable, "-I", "-S", "-c", loop, INSIDE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=(writes,),
            text=True,
        )
        os.close(writes)
        with os.fdopen(reads, encoding="utf-8") as info:
            self.pid = int(json.load(info)["child-pid"])
        self.act([])  # its namespaces are complete, and its program runs

    def act(self, acts: list[tuple[Any, ...]]) -> list[str]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        plan = [(name, arguments) for name, *arguments in acts]
        self.process.stdin.write(json.dumps(plan) + "\n")
        self.process.stdin.flush()
        return list(json.loads(self.process.stdout.readline()))

    def close(self) -> None:
        self.process.communicate()


def main() -> None:
    port = serve()
    found: dict[str, Any] = {"user": os.geteuid(), "groups": os.getgroups()}
    for nested in (False, True):
        sandbox = Sandbox(sys.argv[2], nested=nested)
        try:
            acts: list[tuple[Any, ...]] = [
                ("tcp", "up.test", port),
                ("tcp", "other.test", port),
                ("tcp", "127.0.0.1", port),
                ("tcp", "192.0.2.1", port),
                ("udp", "192.0.2.1", 123),
                ("raw", "192.0.2.1"),
            ]
            before = sandbox.act(acts)
            rules = NetworkRules.allow(hosts={"up.test": "127.0.0.1"})
            with Gate.start(open_netns_sockets(sandbox.pid, rules), rules) as gate:
                inside = sandbox.act(acts)
                events = sorted({(event.target, event.reason) for event in gate.events()})
            after = sandbox.act(acts)
            key = "nested" if nested else "plain"
            found[key] = {"before": before, "inside": inside, "after": after, "events": events}
        finally:
            sandbox.close()
    print(json.dumps(found))


main()
