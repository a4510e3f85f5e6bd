"""Launch of the command daemon by a command that has just run."""

import contextlib
import os
import signal
import sys
from collections.abc import Collection
from pathlib import Path

from llm_sandbox.cli.daemon import client

__all__ = ["launch"]


def launch(without: Collection[str]) -> None:
    """Start a daemon in the background for later commands like this one.

    Args:
        without: Environment variables that this process has set for itself.
    """
    variables = client.environment()
    environment = {name: value for name, value in variables.items() if name not in without}
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
            environment,
            file_actions=null,
            setsid=True,
            setsigdef=range(1, signal.SIGSYS),
        )
        os.waitpid(child, 0)
