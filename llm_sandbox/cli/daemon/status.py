"""State of this user's command daemon, from the file that it keeps beside its socket."""

import contextlib
import json
import os
import signal
from dataclasses import asdict, dataclass
from pathlib import Path

from llm_sandbox.cli.daemon import client

__all__ = ["PROCESS_NAME", "DaemonStatus", "read_status", "remove_status", "stop_daemon"]

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
