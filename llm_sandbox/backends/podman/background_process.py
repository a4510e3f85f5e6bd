"""Background programs that end with this process, however it ends."""

import atexit
import contextlib
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

__all__ = ["BackgroundProcess"]

_POLL_S = 0.01
_TERMINATE_S = 5.0
_WORDS = 2000
_SHORT = 40

# Waits for the end of its input, which comes with the end of this process. A line means that
# everything is cleaned up already.
_GUARD = """
read -r _ && exit
kill "$1"
left=50
while kill -0 "$1" 2>/dev/null && [ $left -gt 0 ]; do sleep 0.1; left=$((left - 1)); done
kill -9 "$1"
rm -rf -- "$2"
"""


class BackgroundProcess:
    """A running program with a private folder, which is removed with it.

    Neither a closed terminal nor Ctrl-C reaches the program; it is ended by `close`, at exit, and
    by a guard process if this process is killed.

    Args:
        argv: Returns the command line for the folder.
        name: Name of the program, which is a part of the folder's name.
    """

    def __init__(self, argv: Callable[[Path], Sequence[str]], name: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=f"llm-sandbox-{name}-", dir=_runtime_folder()))
        """Private to this user."""
        self._lock = threading.Lock()
        self._closed = False
        self._log = self.folder / "log"
        try:
            with self._log.open("wb") as log:
                self._child = subprocess.Popen(
                    argv(self.folder),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    # Podman's monitors leave a file named oom where they run.
                    cwd=self.folder,
                    start_new_session=True,
                )
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        self._guard = subprocess.Popen(
            ["/bin/sh", "-c", _GUARD, "sh", str(self._child.pid), str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        _running.add(self)

    def wait_until(self, ready: Callable[[], bool], timeout_s: float) -> bool:
        """Wait for the program to be ready; False if it ended or took too long."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline and self.is_running:
            if ready():
                return True
            time.sleep(_POLL_S)
        return False

    @property
    def is_running(self) -> bool:
        """Whether the program has not ended."""
        return self._child.poll() is None

    @property
    def words(self) -> str:
        """Tail of its log."""
        with contextlib.suppress(OSError):
            return self._log.read_bytes()[-_WORDS:].decode("utf-8", "replace").strip()
        return ""

    def close(self) -> None:
        """End the program and remove the folder. May be called twice."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        _running.discard(self)
        self._child.terminate()
        try:
            self._child.wait(_TERMINATE_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._guard.communicate(b"done\n", timeout=_TERMINATE_S)

    def abandon(self) -> None:
        """Leave the program to the parent, in a forked child."""
        self._closed = True
        if self._guard.stdin is not None:
            self._guard.stdin.close()
        # Not children of this process: it must not wait for them.
        self._child.returncode = self._guard.returncode = 0


_running: set[BackgroundProcess] = set()
"""Programs that run, until they are closed or this process exits."""


def _close_all() -> None:
    for process in list(_running):
        process.close()


def _abandon_all() -> None:
    for process in list(_running):
        process.abandon()
    _running.clear()


# Runs after the sandboxes have been closed, which register later.
atexit.register(_close_all)
os.register_at_fork(after_in_child=_abandon_all)


def _runtime_folder() -> str | None:
    """Return a folder for sockets, whose paths have to be short; None for the default."""
    for folder in (os.environ.get("XDG_RUNTIME_DIR", ""), "/run"):
        short = os.path.isabs(folder) and len(folder) < _SHORT
        if short and os.access(folder, os.W_OK | os.X_OK):
            return folder
    return None
