"""Servers in processes of their own, and what they have logged."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 60.0


@dataclass
class Served:
    """A server, with all that it has written to standard error."""

    process: subprocess.Popen[str]
    url: str = ""
    lines: list[str] = field(default_factory=list)
    _ready: threading.Event = field(default_factory=threading.Event)

    def read(self) -> None:
        """Gather what it writes, until it ends."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)
            if line.startswith("serving at "):
                self.url = line.split()[-1]
                self._ready.set()
        self._ready.set()

    def wait_until_ready(self) -> None:
        """Wait until it accepts requests."""
        assert self._ready.wait(PATIENCE_S)
        assert self.url, "".join(self.lines)

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    @property
    def log(self) -> list[dict[str, Any]]:
        """Requests that it has logged."""
        return [json.loads(line) for line in self.lines if line.startswith("{")]

    def variables(self, key: str = "e2b_" + "0" * 40) -> dict[str, str]:
        """The environment that points E2B's clients to it."""
        return {"E2B_API_URL": self.url, "E2B_SANDBOX_URL": self.url, "E2B_API_KEY": key}

    def stop(self, number: int = signal.SIGTERM) -> int:
        """End it, and return its exit code."""
        self.process.send_signal(number)
        try:
            return self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


@contextmanager
def served(*words: str, backend: str = "bubblewrap") -> Iterator[Served]:
    """A server, until the body ends."""
    argv = [sys.executable, "-m", "llm_sandbox", "serve", "--port", "0", "--backend", backend]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([*argv, *words], env=environment, stderr=subprocess.PIPE, text=True)
    server = Served(process)
    reader = threading.Thread(target=server.read, daemon=True)
    reader.start()
    try:
        server.wait_until_ready()
        yield server
    finally:
        if process.poll() is None:
            server.stop()
        reader.join(PATIENCE_S)
        assert process.stderr is not None
        process.stderr.close()


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)
