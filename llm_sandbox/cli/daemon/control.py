"""Control of the command daemon: its launch, its status, its end.

The daemon keeps its status in a file beside its socket.
"""

import contextlib
import json
import os
import signal
import sys
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path

from llm_sandbox.cli.daemon import client

__all__ = ["PROCESS_NAME", "DaemonStatus", "launch", "read_status", "remove_status", "stop_daemon"]

PROCESS_NAME = "llm-sandbox-run"
"""Name of the daemon's process, at most 15 bytes."""

_FILE = "daemon.json"


@dataclass(frozen=True)
class DaemonStatus:
    """A living command daemon."""

    pid: int
    """Process id."""
    started_at: float
    """Start, in seconds since 1970."""
    idle_s: int
    """Seconds without a command after which it ends."""

    def write(self) -> Path:
        """Write the status for other processes, and return the path of the file."""
        path = Path(client.runtime_dir(), _FILE)
        new = path.with_suffix(f".{self.pid}")
        new.write_text(json.dumps(asdict(self)), "ascii")
        new.rename(path)
        return path


def read_status() -> DaemonStatus | None:
    """Return the status of this user's daemon; None if there is none."""
    folder = client.runtime_dir()
    if not client.is_private(folder):
        return None
    try:
        status = DaemonStatus(**json.loads(Path(folder, _FILE).read_text("ascii")))
        name = Path(f"/proc/{status.pid}/comm").read_text().strip()
    except (OSError, ValueError, TypeError):
        return None
    return status if name == PROCESS_NAME else None


def remove_status() -> None:
    """Remove the file of a daemon that ends."""
    Path(client.runtime_dir(), _FILE).unlink(missing_ok=True)


def stop_daemon() -> DaemonStatus | None:
    """End this user's daemon, and return what its status was; None if there was none."""
    status = read_status()
    if status is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(status.pid, signal.SIGTERM)
    return status


def launch(without: Collection[str]) -> None:
    """Start a daemon in the background for later commands like this one, unless there is one.

    Args:
        without: Environment variables that this process has set for itself.
    """
    name = client.socket_name(client.context(without))
    if read_status() is not None and Path(client.runtime_dir(), name).exists():
        return
    root = str(Path(__file__).resolve().parents[3])
    code = (
        "import os, sys\n"
        "if os.fork(): os._exit(0)\n"
        f"if {root!r} not in sys.path: sys.path.insert(0, {root!r})\n"
        "from llm_sandbox.cli.daemon.server import main\n"
        "main()\n"
    )
    null = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    with contextlib.suppress(OSError):
        child = os.posix_spawn(
            sys.executable,
            [sys.executable, "-P", "-c", code],
            client.environment(without),
            file_actions=null,
            setsid=True,
            setsigdef=range(1, signal.SIGSYS),
        )
        os.waitpid(child, 0)
