"""The command line, from its start to its exit."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from benchmarks.race import CorrectnessError, Race, Row, Target

__all__ = ["races"]

_OWN = "LLM_SANDBOX_"
_CODE = "print(1)"
_OUTPUT = b"1\n"
_READY_S = 3.0


class _Commands:
    """Commands of one user, with a runtime directory, and so a command daemon, of their own."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def _environment(self, daemon_s: int) -> dict[str, str]:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="run-")
        kept = {name: os.environ[name] for name in os.environ if not name.startswith(_OWN)}
        return {
            **kept,
            "XDG_RUNTIME_DIR": self._folder.name,
            "LLM_SANDBOX_CLI_DAEMON_S": str(daemon_s),
        }

    def _time(self, *words: str, daemon_s: int = 0) -> Mapping[str, float]:
        started = time.perf_counter()
        done = subprocess.run(
            words, stdout=subprocess.PIPE, env=self._environment(daemon_s), check=False
        )
        whole = time.perf_counter() - started
        if (done.stdout, done.returncode) != (_OUTPUT, 0):
            raise CorrectnessError(f"{words} printed {done.stdout!r}, exit {done.returncode}")
        return {"whole": whole}

    def bare(self) -> Mapping[str, float]:
        """Time bare Python."""
        return self._time(sys.executable, "-c", _CODE)

    def alone(self) -> Mapping[str, float]:
        """Time a command without a daemon."""
        return self._time(*_run())

    def again(self) -> Mapping[str, float]:
        """Time a command that follows another by some seconds."""
        if not self._has_daemon():
            self._time(*_run(), daemon_s=600)
        time.sleep(_READY_S)  # the daemon prepares the next sandbox
        return self._time(*_run(), daemon_s=600)

    def _has_daemon(self) -> bool:
        folder = Path(self._folder.name if self._folder else "/nonexistent", "llm-sandbox")
        return any(folder.glob("*.sock"))

    def finish(self) -> None:
        """End the daemon."""
        words = [sys.executable, "-m", "llm_sandbox", "stop", "--all"]
        subprocess.run(words, env=self._environment(600), capture_output=True, check=False)
        if self._folder is not None:
            self._folder.cleanup()
        self._folder = None


def _run() -> list[str]:
    program = Path(sys.executable).with_name("llm-sandbox")
    return [str(program), "run", "-c", _CODE]


def races() -> list[Race]:
    """The races of this theme."""
    commands = _Commands()
    return [
        Race(
            name="command",
            lanes={"bare": commands.bare, "alone": commands.alone, "again": commands.again},
            rows=(
                Row(
                    "`llm-sandbox run -c 'print(1)'`, the first on a machine",
                    "alone.whole",
                    "bare.whole",
                    compared_with="`python -c 'print(1)'`",
                ),
                Row(
                    "the same some seconds after another",
                    "again.whole",
                    "bare.whole",
                    Target("share", 8),
                    compared_with="`python -c 'print(1)'`",
                ),
            ),
            rounds=7,
            quick_rounds=3,
            finish=commands.finish,
        )
    ]
