"""How what we make in an engine is marked, so that whoever made it can be told from a leftover."""

import datetime
import os
import socket
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from llm_sandbox.const import VERSION

__all__ = ["MARK", "OWNER", "STARTED", "Owner", "current_owner", "new_labels"]

MARK = "llm-sandbox"
"""Label of everything of ours; its value is the library's version."""
OWNER = "llm-sandbox.owner"
"""Label that says which process made it; see `Owner`."""
STARTED = "llm-sandbox.started"
"""Label with the moment it was made, ISO 8601 in UTC."""


@dataclass(frozen=True)
class Owner:
    """A process of some machine, for all time: numbers of processes are used again.

    Attributes:
        boot: Identity of the running system that it is a process of.
        pid: Its number.
        started: When it was started, in clock ticks since that system's start.
        host: Name of the machine, for people.
    """

    boot: str
    pid: int
    started: int
    host: str

    @classmethod
    def parse(cls, text: str) -> "Owner | None":
        """Read a label's value; None for one that is not ours."""
        boot, _, rest = text.partition(":")
        pid, _, rest = rest.partition(":")
        started, _, host = rest.partition(":")
        if not (boot and pid.isdecimal() and started.isdecimal()):
            return None
        return cls(boot, int(pid), int(started), host)

    def __str__(self) -> str:
        return f"{self.boot}:{self.pid}:{self.started}:{self.host}"

    @property
    def is_here(self) -> bool:
        """Whether it is, or was, a process of this system."""
        return self.boot == _boot()

    @property
    def is_alive(self) -> bool | None:
        """Whether it still runs; None if that cannot be known from this machine."""
        if not self.is_here:
            return None
        return _started(self.pid) == self.started


def current_owner() -> Owner:
    """This process."""
    pid = os.getpid()
    return Owner(_boot(), pid, _started(pid) or 0, socket.gethostname())


def new_labels() -> dict[str, str]:
    """The labels of something that this process makes now."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return {MARK: VERSION, OWNER: str(current_owner()), STARTED: now}


@cache
def _boot() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        # A system in a container counts its processes anew, below the same kernel.
        return f"{boot}-{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        return socket.gethostname()


def _started(pid: int) -> int | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The program's name, in brackets, may hold anything.
    return int(text.rpartition(")")[2].split()[19])
