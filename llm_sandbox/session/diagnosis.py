"""Diagnosis of a run: its cause, from measured evidence before claims, and hints about limits."""

import contextlib
import posixpath
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from llm_sandbox.backends.base import Exit, LimitEvents, MachineSpec
from llm_sandbox.backends.processes import ended_by, whole_seconds
from llm_sandbox.const import RunCause, RunStatus
from llm_sandbox.data import ConsoleOutput
from llm_sandbox.exceptions import SandboxError
from llm_sandbox.host.guest_numbers import GuestErrno, GuestSignal
from llm_sandbox.mounts import Tmpfs
from llm_sandbox.results.outputs import ExecutionError
from llm_sandbox.sandbox.file_service import DiskUsage

__all__ = ["RunEvidence", "find_cause", "limit_hints"]

_BY_ERRNO: dict[int, RunCause] = {
    GuestErrno.ENOSPC: RunCause.DISK,
    GuestErrno.EDQUOT: RunCause.DISK,
    GuestErrno.EFBIG: RunCause.FILE_SIZE,
    GuestErrno.EMFILE: RunCause.OPEN_FILES,
    GuestErrno.ENOMEM: RunCause.MEMORY,
    GuestErrno.EPERM: RunCause.PERMISSION,
    GuestErrno.EACCES: RunCause.PERMISSION,
    GuestErrno.EROFS: RunCause.PERMISSION,
}
_MESSAGES = {
    RunCause.DISK: ("No space left on device", "Errno 28", "ENOSPC", "Disk quota exceeded"),
    RunCause.FILE_SIZE: ("File too large", "EFBIG", "File size limit exceeded", "SIGXFSZ"),
    RunCause.OPEN_FILES: ("Too many open files", "EMFILE"),
    RunCause.CPU: ("CPU time limit exceeded", "SIGXCPU"),
    RunCause.PROCESSES: ("can't start new thread", "Cannot fork", "fork: retry:"),
    RunCause.MEMORY: (
        "JavaScript heap out of memory",
        "Array buffer allocation failed",
        "java.lang.OutOfMemoryError",
        "std::bad_alloc",
        "fatal error: runtime: out of memory",
        "cannot allocate vector of size",
        "failed to allocate memory",
        "Cannot allocate memory",
    ),
}
"""Messages of programs, shells and interpreters that met a limit."""
_PROCESS_STARTERS = ("fork", "spawn", "start_new_thread")
"""Words in a source line that starts a process or a thread."""
_CRASHES: dict[int, str] = {
    GuestSignal.SIGSEGV: "native code failed, or calls were nested deeper than the stack holds",
    GuestSignal.SIGBUS: "native code failed",
    GuestSignal.SIGILL: "native code failed",
    GuestSignal.SIGFPE: "native code failed",
    GuestSignal.SIGABRT: "native code gave up",
}


@dataclass(frozen=True, slots=True)
class RunEvidence:
    """Evidence about a run that has ended."""

    status: RunStatus
    error: ExecutionError | None
    """The error, as the interpreter claims it."""
    streams: ConsoleOutput
    exit: Exit | None
    """Exit of its process, measured outside; None if the process lives on."""
    events: LimitEvents
    """Limits that Linux enforced while it ran."""
    stopped: bool
    """Whether it was interrupted."""
    expired: bool
    """Whether the sandbox's own time was over."""
    dropped: bool
    """Whether some of its output exceeded the limits."""
    offline: bool
    """Whether it failed because its network was unreachable."""


def find_cause(run: RunEvidence, spec: MachineSpec) -> RunCause | None:
    """Return what ended a run, or the limit that it met; measured evidence precedes claims.

    Args:
        run: The run.
        spec: The specification of its machine.
    """
    measured = _measured(run, spec)
    if measured is not None:
        return measured
    kernel = None
    if run.events.oom_kills:
        kernel = RunCause.MEMORY
    elif run.events.refused_forks:
        kernel = RunCause.PROCESSES
    if run.status is RunStatus.OK:
        return kernel or (RunCause.OUTPUT if run.dropped else None)
    if run.status is RunStatus.EXITED:
        return RunCause.EXIT
    # trust: claimed by the interpreter, or by programs that it ran.
    claimed = _claimed(run)
    if claimed is not None:
        return claimed
    if run.offline:
        return RunCause.NETWORK
    return kernel or (RunCause.EXCEPTION if run.error is not None else RunCause.EXIT)


def _measured(run: RunEvidence, spec: MachineSpec) -> RunCause | None:
    if run.stopped:
        return RunCause.INTERRUPT
    if run.expired or run.status is RunStatus.TIMEOUT:
        return RunCause.TIMEOUT
    if run.status is RunStatus.CRASHED:
        return RunCause.PROTOCOL
    found = None if run.exit is None else ended_by(run.exit, spec.limits)
    return None if found is RunCause.EXIT else found


def _claimed(run: RunEvidence) -> RunCause | None:
    error = run.error
    if error is None:
        return next(iter(_named(run.streams.stderr[-4000:])), None)
    if error.errno in _BY_ERRNO:
        return _BY_ERRNO[error.errno]
    if error.errno == GuestErrno.EAGAIN and error.frames:
        source = error.frames[-1].source
        starts = any(word in source for word in _PROCESS_STARTERS)
        return RunCause.PROCESSES if starts else None
    if error.name == "MemoryError" or error.name.endswith("ArrayMemoryError"):
        return RunCause.MEMORY
    return next(iter(_named(error.value)), None)


def _named(text: str) -> list[RunCause]:
    return [cause for cause, all_ in _MESSAGES.items() if any(words in text for words in all_)]


def limit_hints(
    cause: RunCause | None,
    run: RunEvidence,
    spec: MachineSpec,
    *,
    has_disk_limits: bool,
    measure: Callable[[str], DiskUsage],
) -> list[str]:
    """Return the sentences that name the limits which explain a run, and the options for them.

    Args:
        cause: The cause by `find_cause`.
        run: The run.
        spec: The specification of its machine.
        has_disk_limits: Whether the machine's file systems are its own.
        measure: Measures how full the file system of a path is.
    """
    error = run.error
    text = f"{error.value if error is not None else ''}\n{run.streams.stderr[-4000:]}"
    causes = dict.fromkeys([*([] if cause is None else [cause]), *_named(text)])
    sentences = []
    if run.events.oom_kills and run.status is not RunStatus.OOM:
        sentences.append(f"{_count(run.events.oom_kills)} killed at the memory limit.")
    for one in causes:
        if one is RunCause.DISK:
            path = None if error is None else error.filename
            sentences += _disk(path, spec, has_disk_limits=has_disk_limits, measure=measure)
        elif one is RunCause.SIGNAL and run.exit is not None:
            why = _CRASHES.get(run.exit.signal or 0)
            sentences += [] if why is None else [f"The interpreter crashed: {why}."]
        elif one is RunCause.PERMISSION and run.exit is not None:
            sentences.append("The program made a system call that the sandbox does not allow.")
        else:
            sentences += _limit(one, spec)
    return sentences


def _count(number: int) -> str:
    return "1 process was" if number == 1 else f"{number} processes were"


def _limit(cause: RunCause, spec: MachineSpec) -> list[str]:
    limits = spec.limits
    if cause is RunCause.CPU and limits.cpu_seconds is not None:
        seconds = whole_seconds(limits.cpu_seconds)
        return [f"A process may use {seconds} s of CPU time; Limits(cpu_seconds=...) changes that."]
    size = {
        RunCause.MEMORY: f"The sandbox has {limits.memory_bytes >> 20} MiB of memory; "
        "Limits(memory_bytes=...) changes that.",
        RunCause.PROCESSES: f"The sandbox may run {limits.processes} processes and threads; "
        "Limits(processes=...) changes that.",
        RunCause.FILE_SIZE: f"A file may have {_size(limits.file_size_bytes)}; "
        "Limits(file_size_bytes=...) changes that.",
        RunCause.OPEN_FILES: f"A process may have {limits.open_files} files open; "
        "Limits(open_files=...) changes that.",
    }.get(cause)
    return [] if size is None else [size]


def _size(count: int) -> str:
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count} bytes"


# --- disks


def _file_systems(spec: MachineSpec) -> Mapping[str, tuple[int, str]]:
    """Return size and option of each file system in memory, by path."""
    limits = spec.limits
    sizes = {
        spec.workdir: (limits.workdir_bytes, "Limits(workdir_bytes=...)"),
        "/tmp": (limits.tmp_bytes, "Limits(tmp_bytes=...)"),  # noqa: S108 - inside
        "/dev/shm": (limits.shm_bytes, "Limits(shm_bytes=...)"),  # noqa: S108 - inside
    }
    for path, mount in spec.mounts.items():
        if isinstance(mount, Tmpfs):
            sizes[path] = mount.size_bytes, "Tmpfs(size=...)"
    return sizes


def _disk(
    path: str | None,
    spec: MachineSpec,
    *,
    has_disk_limits: bool,
    measure: Callable[[str], DiskUsage],
) -> list[str]:
    if not has_disk_limits:
        return ["The disk of this computer that the sandbox's folder lies on is full."]
    systems = _file_systems(spec)
    mount = None if path is None else _mount_point(posixpath.join(spec.workdir, path), spec)
    if mount is not None and mount not in systems:
        return [f"The mount at {mount} is full; no limit of the sandbox changes that."]
    measured: dict[str, DiskUsage] = {}
    for root in systems if mount is None else [mount]:
        with contextlib.suppress(SandboxError):
            measured[root] = measure(root)
    sentences = []
    for root, space in measured.items():
        if space.has_no_inode:
            sentences.append(
                f"{_name(root, spec)} is full: it holds {space.inodes} files and folders; "
                "Limits(inodes=...) changes that."
            )
        elif space.is_full:
            option = systems[root][1]
            sentences.append(
                f"{_name(root, spec)} is full: it holds {_size(space.size_bytes)}; "
                f"{option} changes that."
            )
    if sentences:
        return sentences
    likely = systems if mount is None else {mount: systems[mount]}
    sizes = "; ".join(
        f"{_name(root, spec)} holds {_size(size)}, which {option} changes"
        for root, (size, option) in likely.items()
    )
    return [f"A file system was full, and no longer is: {sizes}."]


def _mount_point(path: str, spec: MachineSpec) -> str | None:
    """Return the root of the file system that a path is in; None where it is not known."""
    path = posixpath.normpath(path)
    known = [
        root for root in (*_file_systems(spec), *spec.mounts) if f"{path}/".startswith(f"{root}/")
    ]
    return max(known, key=len, default=None)


def _name(root: str, spec: MachineSpec) -> str:
    return "The working directory" if root == spec.workdir else root
