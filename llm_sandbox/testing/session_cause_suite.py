"""Conformance suite of the reported causes of ends of runs."""

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import pytest

from llm_sandbox.artifact_session import ArtifactSandboxSession
from llm_sandbox.backends.base import Backend
from llm_sandbox.const import RunCause, RunStatus, StateOutcome
from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import SandboxTimeoutError
from llm_sandbox.limits import Limits
from llm_sandbox.security import get_security_policy
from llm_sandbox.testing.suite import usable_backend

__all__ = ["WAYS", "SessionCauseSuite", "SharedSession", "Way"]

_MIB = 1 << 20
_CHILDREN = """
import os, subprocess, sys
grow = "x = bytearray(b'x') * (300 << 20); import time; time.sleep(30)"
children = [subprocess.Popen([sys.executable, "-c", grow]) for _ in range(3)]
os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
for child in children: child.terminate()
print(sorted(child.wait() for child in children))
"""
_REFUSED = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
if libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) < 0:
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
"""
_DEEP = """
import ctypes, sys
sys.setrecursionlimit(10**9)
@ctypes.CFUNCTYPE(None)
def deeper(): deeper()
deeper()
"""
_FORKS = """
import os, time
while True:
    if os.fork() == 0:
        time.sleep(30)
        os._exit(0)
"""
_BOMB = """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
"""
_FILL = "with open({!r}, 'wb') as file:\n    while True: file.write(bytes(1 << 20))"


@dataclass(frozen=True)
class Way:
    """Case of a run that ends in a certain way, and its expected result."""

    code: str
    status: RunStatus = RunStatus.ERROR
    exit_code: int = 1
    signal: int | None = None
    cause: RunCause | None = RunCause.EXCEPTION
    state: StateOutcome | None = StateOutcome.KEPT
    """Expected outcome of the state; None for any."""
    limits: Limits = field(default_factory=Limits)
    timeout: float | None = None
    cpu_s: float = 0.0
    """Minimum of the CPU seconds used."""
    measured: bool = False
    """True if the cause is measured outside."""
    note: str = ""
    """Text of an expected note."""
    needs: tuple[str, ...] = ()
    """Resources that the backend must enforce."""
    interrupted: bool = False
    """True if the run is interrupted from another thread."""
    session: Mapping[str, Any] = field(default_factory=dict)
    """Further options of the session."""


_RESET: dict[str, Any] = {"state": StateOutcome.RESET, "measured": True}
_KILLED: dict[str, Any] = {"status": RunStatus.KILLED, **_RESET}
_TIMEOUT: dict[str, Any] = {
    "status": RunStatus.TIMEOUT,
    "exit_code": 124,
    "cause": RunCause.TIMEOUT,
    "timeout": 0.7,
    "measured": True,
}
_CPU: dict[str, Any] = {
    "cause": RunCause.CPU,
    "limits": Limits(cpu_seconds=1),
    "timeout": 120,
    "cpu_s": 0.4,
}


def _disk(path: str, option: str, note: str = "holds 8 MiB") -> Way:
    return Way(
        _FILL.format(path),
        cause=RunCause.DISK,
        limits=Limits(**{option: 8 * _MIB}),
        note=f"{note}; Limits({option}=...)",
        needs=("own_disk",),
    )


WAYS: dict[str, Way] = {
    "ok": Way("print(1)", RunStatus.OK, 0, cause=None),
    # --- time
    "timeout": Way("while True: pass", **_TIMEOUT, cpu_s=0.05),
    "timeout-in-c": Way("sum(range(10**13))", **{**_TIMEOUT, **_RESET, "cpu_s": 0.05}),
    "deadlock": Way("import threading\nx = threading.Lock()\nx.acquire(); x.acquire()", **_TIMEOUT),
    "sleep": Way("import time; time.sleep(60)", **_TIMEOUT),
    "interrupt": Way(
        "while True: pass",
        RunStatus.KILLED,
        130,
        2,
        RunCause.INTERRUPT,
        measured=True,
        cpu_s=0.05,
        interrupted=True,
    ),
    "session-timeout": Way(
        "while True: pass",
        RunStatus.KILLED,
        137,
        9,
        RunCause.TIMEOUT,
        StateOutcome.LOST,
        measured=True,
        session={"session_timeout": 1.5},
    ),
    # --- CPU
    "cpu": Way(
        "while True: pass",
        **{**_KILLED, **_CPU},
        exit_code=152,
        signal=24,
        note="1 s of CPU time; Limits(cpu_seconds=...)",
    ),
    "cpu-ignored": Way(
        "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass",
        **{**_KILLED, **_CPU, "cpu_s": 1.0},
        exit_code=137,
        signal=9,
    ),
    "cpu-of-a-child": Way(
        "import subprocess, sys\n"
        "subprocess.run([sys.executable, '-c', 'while True: pass'], check=True)",
        **_CPU,
        note="Limits(cpu_seconds=...)",
    ),
    # --- memory
    "memory-at-once": Way("x = bytearray(1 << 40)", cause=RunCause.MEMORY, note="memory_bytes"),
    "memory-by-growth": Way(
        "x = []\nwhile True: x.append(bytearray(1 << 20))",
        cause=RunCause.MEMORY,
        limits=Limits(memory_bytes=256 * _MIB),
        note="256 MiB of memory; Limits(memory_bytes=...)",
    ),
    "memory-of-children": Way(
        _CHILDREN,
        RunStatus.OK,
        0,
        cause=RunCause.MEMORY,
        limits=Limits(memory_bytes=700 * _MIB),
        note="killed at the memory limit",
        needs=("memory",),
        measured=True,
    ),
    "memory-of-files": Way(
        _FILL.format("/dev/shm/fill"),
        RunStatus.OOM,
        137,
        9,
        RunCause.MEMORY,
        limits=Limits(memory_bytes=128 * _MIB, shm_bytes=1024 * _MIB, file_size_bytes=1024 * _MIB),
        note="128 MiB of memory; Limits(memory_bytes=...)",
        needs=("memory_group",),
        **_RESET,
    ),
    # --- processes
    "processes": Way(
        _FORKS,
        cause=RunCause.PROCESSES,
        limits=Limits(processes=20),
        note="20 processes and threads; Limits(processes=...)",
        needs=("process_count",),
    ),
    "threads": Way(
        "import threading, time\n"
        "while True: threading.Thread(target=time.sleep, args=(20,), daemon=True).start()",
        cause=RunCause.PROCESSES,
        limits=Limits(processes=20),
        note="20 processes and threads; Limits(processes=...)",
        needs=("process_count",),
    ),
    "fork-bomb": Way(
        _BOMB, **{**_TIMEOUT, "state": None}, limits=Limits(processes=20), needs=("process_count",)
    ),
    # --- output
    "output": Way(
        "print('x' * 5000)",
        RunStatus.OK,
        0,
        cause=RunCause.OUTPUT,
        limits=Limits(output_bytes=1000),
    ),
    "displays": Way(
        "for n in range(9): display(n)",
        RunStatus.OK,
        0,
        cause=RunCause.OUTPUT,
        limits=Limits(displays=3),
    ),
    # --- disk
    "disk-workdir": _disk("fill", "workdir_bytes", "The working directory is full: it holds 8 MiB"),
    "disk-tmp": _disk("/tmp/fill", "tmp_bytes", "/tmp is full: it holds 8 MiB"),
    "disk-shm": _disk("/dev/shm/fill", "shm_bytes", "/dev/shm is full: it holds 8 MiB"),
    "disk-let-go": Way(
        "import tempfile\nwith tempfile.TemporaryFile(dir='/dev/shm') as file:\n"
        "    while True: file.write(bytes(1 << 20))",
        cause=RunCause.DISK,
        limits=Limits(shm_bytes=8 * _MIB),
        note="/dev/shm holds 8 MiB, which Limits(shm_bytes=...) changes",
        needs=("own_disk",),
    ),
    "inodes": Way(
        "n = 0\nwhile True:\n    n += 1\n    open(f'f{n}', 'w').close()",
        cause=RunCause.DISK,
        limits=Limits(inodes=300),
        note="files and folders; Limits(inodes=...)",
        needs=("own_disk", "inodes"),
    ),
    "file-size": Way(
        _FILL.format("fill"),
        cause=RunCause.FILE_SIZE,
        limits=Limits(file_size_bytes=4 * _MIB),
        note="A file may have 4 MiB; Limits(file_size_bytes=...)",
    ),
    "file-size-signal": Way(
        "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n" + _FILL.format("fill"),
        RunStatus.KILLED,
        153,
        25,
        RunCause.FILE_SIZE,
        StateOutcome.RESET,
        limits=Limits(file_size_bytes=4 * _MIB),
        note="Limits(file_size_bytes=...)",
    ),
    "open-files": Way(
        "x = []\nwhile True: x.append(open('/dev/null'))",
        cause=RunCause.OPEN_FILES,
        limits=Limits(open_files=100),
        note="100 files open; Limits(open_files=...)",
    ),
    # --- signals
    "stack-overflow": Way(
        _DEEP,
        **_KILLED,
        exit_code=139,
        signal=11,
        cause=RunCause.SIGNAL,
        note="nested deeper than the stack",
    ),
    "segfault": Way(
        "import ctypes; ctypes.string_at(0)",
        **_KILLED,
        exit_code=139,
        signal=11,
        cause=RunCause.SIGNAL,
        note="native code failed",
    ),
    "abort": Way(
        "import os; os.abort()", **_KILLED, exit_code=134, signal=6, cause=RunCause.SIGNAL
    ),
    "sigkill": Way(
        "import os; os.kill(os.getpid(), 9)",
        **_KILLED,
        exit_code=137,
        signal=9,
        cause=RunCause.SIGNAL,
    ),
    "sigterm": Way(
        "import os; os.kill(os.getpid(), 15)",
        **_KILLED,
        exit_code=143,
        signal=15,
        cause=RunCause.SIGNAL,
    ),
    "sigxcpu-of-its-own": Way(
        "import os; os.kill(os.getpid(), 24)",
        **_KILLED,
        exit_code=152,
        signal=24,
        cause=RunCause.SIGNAL,
        limits=Limits(cpu_seconds=5),
    ),
    # --- ends of the program's own
    "os-exit": Way(
        "import os; os._exit(3)", RunStatus.EXITED, 3, None, RunCause.EXIT, StateOutcome.RESET
    ),
    "sys-exit": Way("import sys; sys.exit(3)", RunStatus.EXITED, 3, None, RunCause.EXIT),
    "sys-exit-0": Way("import sys; sys.exit()", RunStatus.EXITED, 0, None, RunCause.EXIT),
    "exception": Way("1 / 0"),
    "syntax": Way("def"),
    "keyboard-interrupt": Way("raise KeyboardInterrupt"),
    "missing-file": Way("open('nowhere')"),
    # --- isolation
    "policy": Way(
        "import os; os.system('ls')",
        RunStatus.BLOCKED,
        cause=RunCause.POLICY,
        exit_code=126,
        measured=True,
        session={
            "security_policy": get_security_policy("strict").model_copy(
                update={"refusal": "result"}
            ),
        },
    ),
    "system-call": Way(_REFUSED, cause=RunCause.PERMISSION, needs=("system_calls",)),
    "permission": Way("open('/usr/made', 'w')", cause=RunCause.PERMISSION, needs=("files",)),
    "network": Way(
        "import urllib.request; urllib.request.urlopen('http://example.org')",
        cause=RunCause.NETWORK,
        note="no network",
        needs=("network",),
    ),
}


class SharedSession:
    """Session of several cases, which goes on after the end of a run as any session does."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._session: ArtifactSandboxSession | None = None

    def open(self) -> ArtifactSandboxSession:
        """Return the session, or a new one if the last case ended its sandbox."""
        if self._session is not None and not self._session.is_open:
            self.close()
        if self._session is None:
            self._session = ArtifactSandboxSession(self._backend)
            self._session.open()
        return self._session

    def close(self) -> None:
        """End the session."""
        session, self._session = self._session, None
        if session is not None:
            session.close()


class SessionCauseSuite:
    """Behaviours of ended runs: status, exit code, signal, cause, resource usage, state."""

    backend_name: ClassVar[str]
    otherwise: ClassVar[dict[str, dict[str, Any]]] = {}
    """Deviations of a backend by name of the case, as fields of `Way`; optional ones with
    ``or_not``.
    """
    lacks: ClassVar[dict[str, str]] = {}
    """Resources that a backend does not enforce, with the reasons."""

    @pytest.fixture(scope="class")
    @classmethod
    def cause_backend(cls) -> Backend:
        """Provide the backend under test."""
        return usable_backend(cls.backend_name)

    @pytest.fixture(scope="class")
    @classmethod
    def shared_session(cls, cause_backend: Backend) -> Iterator[SharedSession]:
        """Provide a session of the defaults for the cases that need no other."""
        shared = SharedSession(cause_backend)
        yield shared
        shared.close()

    def _need(self, backend: Backend, *needs: str) -> None:
        # Never tried where nothing would hold it: some of these ways use up a machine.
        isolation = backend.check()
        for need in needs:
            control = isolation.controls.get(need)
            if isolation.level == "none" or (control is not None and control.state == "absent"):
                pytest.skip(f"{backend.name} does not hold {need}")
            if need in self.lacks:
                pytest.skip(f"{backend.name} does not hold {need}: {self.lacks[need]}")

    @pytest.mark.parametrize("name", WAYS)
    def test_each_end_is_told_apart(
        self, cause_backend: Backend, shared_session: SharedSession, name: str
    ) -> None:
        """The result of each way to end says which it was."""
        way = WAYS[name]
        other = dict(self.otherwise.get(name, {}))
        may = other.pop("or_not", False)
        self._need(cause_backend, *way.needs)
        if way.limits == Limits() and not way.session:
            result = _run(shared_session.open(), way)
        else:
            options = {"limits": way.limits, **way.session}
            with ArtifactSandboxSession(cause_backend, **options) as session:
                result = _run(session, way)
        if not may or result.status is other.get("status"):
            way = replace(way, **other)

        told = (result.status, result.exit_code, result.signal, result.cause)
        assert (way.status, way.exit_code, way.signal, way.cause) == told
        assert way.state in (None, result.state)
        assert (way.status is RunStatus.TIMEOUT) == result.timed_out
        assert (way.status is RunStatus.OOM) == result.oom_killed
        assert ("cause" in result.trust["measured"]) == way.measured
        assert way.note in "\n".join(result.notes)
        # On a busy machine the report of a kernel that had to be killed may come too late.
        unreported = result.timed_out and result.state is StateOutcome.RESET
        if unreported and result.usage.cpu_s is None:
            return
        if way.status is not RunStatus.BLOCKED and result.state is not StateOutcome.LOST:
            assert result.usage.cpu_s is not None
            assert result.usage.cpu_s >= way.cpu_s
            assert (result.usage.peak_memory_bytes or 0) > 10 * _MIB

    def test_nothing_is_said_of_variables_that_no_run_had(self, cause_backend: Backend) -> None:
        """With `persistent=False` a killed run says what killed it, and nothing of variables."""
        options: dict[str, Any] = {"persistent": False, "limits": Limits(cpu_seconds=1)}
        with ArtifactSandboxSession(cause_backend, **options) as session:
            result = session.run("while True: pass", timeout=120)

        assert RunCause.CPU is result.cause
        assert result.usage.measured
        assert "variables" not in "".join(result.notes)

    def test_an_earlier_death_of_a_child_is_not_this_runs(self, cause_backend: Backend) -> None:
        """A run that kills itself was not out of memory because a child of the run before was."""
        self._need(cause_backend, "memory_group")
        limits = Limits(memory_bytes=700 * _MIB)
        with ArtifactSandboxSession(cause_backend, limits=limits) as session:
            before = session.run(_CHILDREN)
            result = session.run("import os; os.kill(os.getpid(), 9)")

        assert (before.cause, before.oom_killed) == (RunCause.MEMORY, False)
        assert (before.usage.oom_kills or 0) > 0
        assert (result.status, result.cause) == (RunStatus.KILLED, RunCause.SIGNAL)

    def test_a_command_says_what_ended_it(self, cause_backend: Backend) -> None:
        """A program beside the interpreter has a cause and a measured use as well."""
        with ArtifactSandboxSession(cause_backend, limits=Limits(cpu_seconds=1)) as session:
            busy = session.execute_command(["python3", "-c", "while True: pass"])
            failed = session.execute_command(["python3", "-c", "raise SystemExit(4)"])
            fine = session.execute_command("true")

        assert (busy.cause, failed.cause, fine.cause) == (RunCause.CPU, RunCause.EXIT, None)
        assert (busy.cpu_s or 0) > 0.4
        assert (busy.peak_memory_bytes or 0) > _MIB


def _run(session: Any, way: Way) -> ExecutionResult:
    timer = threading.Timer(1.0, session.interrupt)
    if way.interrupted:
        timer.start()
    try:
        result = session.run(way.code, timeout=way.timeout or 60)
    except SandboxTimeoutError as error:
        result = error.result
    if way.interrupted:
        timer.join()
    assert isinstance(result, ExecutionResult)
    return result
