"""Code in a sandbox as this machine sees it: by the command line of what it has started."""

import itertools
import os
import time

import anyio
import psutil

_numbers = itertools.count(1)


class Marked:
    """Code that goes on for ever, and can be told from everything else on this machine."""

    def __init__(self) -> None:
        self._words = ["sleep", f"7654321.{os.getpid()}{next(_numbers)}"]
        self.code = f"import subprocess\nsubprocess.run({self._words!r})"

    def is_running(self) -> bool:
        """Whether there is such a process, in whatever namespace."""
        return any(
            process.info["cmdline"] == self._words for process in psutil.process_iter(["cmdline"])
        )

    async def wait(self, *, running: bool) -> bool:
        """Wait until it runs, or does no more; False if that takes more than 30 seconds."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if self.is_running() == running:
                return True
            await anyio.sleep(0.05)
        return False
