"""Processes of package managers: started in a machine or on the host, read, and ended in time."""

import contextlib
import os
import re
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from llm_sandbox.backends.base import Machine, ProcessSpec
from llm_sandbox.exceptions import LaunchError, LibraryInstallationError, SandboxTimeoutError
from llm_sandbox.host.terminal import strip_controls
from llm_sandbox.limits import Deadline

__all__ = ["LARGEST_LAYER", "ProcessRunner", "RunningProcess", "start_in_machine", "start_on_host"]

LARGEST_LAYER = 8 << 30
"""Maximum size of a layer in bytes."""

_EXIT_REPORT_S = 30
_KEPT_OUTPUT = 64 << 10
_LOGIN = re.compile(r"(?<=://)[^/\s@]{1,500}@")


@dataclass(frozen=True)
class RunningProcess:
    """A running process: its output streams, its kill and its exit code."""

    streams: tuple[int, int]
    stop: Callable[[], object]
    wait: Callable[[], int]


def start_in_machine(
    machine: Machine, argv: Sequence[str], env: Mapping[str, str], cwd: str, timeout_s: float | None
) -> RunningProcess:
    """Start a program in a machine.

    Raises:
        LaunchError: The machine lacks the program.
    """
    raw = machine.start(ProcessSpec(tuple(argv), env, cwd, timeout_s))

    def wait() -> int:
        ended = raw.ending.wait(_EXIT_REPORT_S)
        return ended.exit_code if ended is not None else 137

    return RunningProcess((raw.stdout, raw.stderr), lambda: machine.kill(raw.id), wait)


def start_on_host(
    argv: Sequence[str], env: Mapping[str, str], cwd: str | None = None
) -> RunningProcess:
    """Start a program as a plain process of the host.

    Raises:
        LaunchError: The host lacks the program.
    """
    if shutil.which(argv[0], path=env.get("PATH")) is None:
        raise LaunchError(argv[0])
    process = subprocess.Popen(
        argv,
        env=env,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    streams = (os.dup(process.stdout.fileno()), os.dup(process.stderr.fileno()))
    process.stdout.close()
    process.stderr.close()

    def stop() -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    return RunningProcess(streams, stop, process.wait)


class ProcessRunner:
    """Runner of the processes of one installation, one after the other.

    Args:
        staging: The folder of this machine that they write to.
        specs: What is installed.
        deadline: Until when.
    """

    def __init__(self, staging: Path, specs: Sequence[str], deadline: Deadline) -> None:
        self._staging = staging
        self._specs = specs
        self._deadline = deadline

    def run(self, start: Callable[[float | None], RunningProcess]) -> tuple[int, str]:
        """Run a program to its end.

        Args:
            start: Starts the process, with a time limit in seconds.

        Returns:
            The exit status, and the end of the output.

        Raises:
            LibraryInstallationError: The disk limit was exceeded.
            SandboxTimeoutError: The deadline passed.
        """
        self._check_deadline()
        started = start(self._deadline.remaining())
        try:
            output = self._drain(started)
        except BaseException:
            started.stop()
            started.wait()
            raise
        code = started.wait()
        self._check_deadline()
        return code, output

    def _check_deadline(self) -> None:
        if self._deadline.expired:
            raise SandboxTimeoutError(
                f"installing {', '.join(self._specs)} took longer than allowed", op="install"
            )

    def _drain(self, started: RunningProcess) -> str:
        kept = bytearray()
        next_look = time.monotonic() + 1.0
        with contextlib.ExitStack() as stack:
            selector = stack.enter_context(selectors.DefaultSelector())
            for fd in started.streams:
                stack.callback(os.close, fd)
                selector.register(fd, selectors.EVENT_READ)
            while selector.get_map():
                left = self._deadline.remaining()
                for key, _ in selector.select(1.0 if left is None else min(1.0, left)):
                    data = os.read(key.fd, 1 << 16)
                    if not data:
                        selector.unregister(key.fd)
                    kept += data
                    del kept[:-_KEPT_OUTPUT]
                self._check_deadline()
                if time.monotonic() >= next_look:
                    self._check_size()
                    next_look = time.monotonic() + 1.0
        # trust: what is printed has names and words of packages in it; addresses may have logins.
        text = strip_controls(kept.decode("utf-8", "replace")).strip()
        return _LOGIN.sub("***@", text)

    def _check_size(self) -> None:
        if sum(_file_sizes(self._staging)) > LARGEST_LAYER:
            raise LibraryInstallationError(
                f"{', '.join(self._specs)} could not be installed: "
                f"it takes more than {LARGEST_LAYER >> 30} GiB",
                packages=self._specs,
                op="install",
            )


def _file_sizes(folder: Path) -> Iterator[int]:
    with contextlib.suppress(OSError):  # files come and go
        for _, _, names, fd in os.fwalk(folder):
            for name in names:
                with contextlib.suppress(OSError):
                    yield os.stat(name, dir_fd=fd, follow_symlinks=False).st_blocks * 512
