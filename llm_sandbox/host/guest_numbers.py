"""Signals and errors by Linux's numbers, which sandboxes report on every host."""

import enum
import errno
import signal

__all__ = [
    "GuestErrno",
    "GuestSignal",
    "exit_status",
    "guest_signal",
    "host_errno",
    "signal_name",
    "signal_words",
]


class GuestSignal(enum.IntEnum):
    """Signal in a sandbox."""

    SIGHUP = 1
    SIGINT = 2
    SIGQUIT = 3
    SIGILL = 4
    SIGTRAP = 5
    SIGABRT = 6
    SIGBUS = 7
    SIGFPE = 8
    SIGKILL = 9
    SIGUSR1 = 10
    SIGSEGV = 11
    SIGUSR2 = 12
    SIGPIPE = 13
    SIGALRM = 14
    SIGTERM = 15
    SIGSTKFLT = 16
    SIGCHLD = 17
    SIGCONT = 18
    SIGSTOP = 19
    SIGTSTP = 20
    SIGTTIN = 21
    SIGTTOU = 22
    SIGURG = 23
    SIGXCPU = 24
    SIGXFSZ = 25
    SIGVTALRM = 26
    SIGPROF = 27
    SIGWINCH = 28
    SIGIO = 29
    SIGPWR = 30
    SIGSYS = 31
    SIGRTMIN = 34
    SIGRTMAX = 64


_WORDS = {
    1: "Hangup",
    2: "Interrupt",
    3: "Quit",
    4: "Illegal instruction",
    5: "Trace/breakpoint trap",
    6: "Aborted",
    7: "Bus error",
    8: "Floating point exception",
    9: "Killed",
    10: "User defined signal 1",
    11: "Segmentation fault",
    12: "User defined signal 2",
    13: "Broken pipe",
    14: "Alarm clock",
    15: "Terminated",
    16: "Stack fault",
    17: "Child exited",
    18: "Continued",
    19: "Stopped (signal)",
    20: "Stopped",
    21: "Stopped (tty input)",
    22: "Stopped (tty output)",
    23: "Urgent I/O condition",
    24: "CPU time limit exceeded",
    25: "File size limit exceeded",
    26: "Virtual timer expired",
    27: "Profiling timer expired",
    28: "Window changed",
    29: "I/O possible",
    30: "Power failure",
    31: "Bad system call",
}


def signal_name(number: int) -> str:
    """Return the name of a signal, such as ``SIGSEGV``; real-time signals have none."""
    try:
        return GuestSignal(number).name
    except ValueError:
        return f"signal {number}"


def guest_signal(number: int) -> int:
    """Return Linux's number of a signal: of one of `signal.Signals` that this system numbers in its
    own way, by its name.
    """
    known = GuestSignal.__members__.get(number.name) if isinstance(number, signal.Signals) else None
    return int(number if known is None else known)


def signal_words(number: int) -> str:
    """Return a description of a signal; empty for one without."""
    return _WORDS.get(number, "")


def exit_status(status: int) -> tuple[int, int | None]:
    """Decode a wait status of Linux.

    Returns:
        The exit code, 128 + n for signal n, and the signal's number, or None for a normal exit.
    """
    number = status & 0x7F
    return (128 + number, number) if number else ((status >> 8) & 0xFF, None)


class GuestErrno(enum.IntEnum):
    """Errors of system calls in a sandbox that this library distinguishes."""

    EPERM = 1
    ENOENT = 2
    EIO = 5
    EAGAIN = 11
    ENOMEM = 12
    EACCES = 13
    EEXIST = 17
    ENOTDIR = 20
    EISDIR = 21
    EMFILE = 24
    EFBIG = 27
    ENOSPC = 28
    EROFS = 30
    ENAMETOOLONG = 36
    ENOTEMPTY = 39
    ELOOP = 40
    EOVERFLOW = 75
    ENETUNREACH = 101
    ECONNABORTED = 103
    ECONNRESET = 104
    ETIMEDOUT = 110
    ECONNREFUSED = 111
    EHOSTUNREACH = 113
    EDQUOT = 122


def host_errno(number: int) -> int | None:
    """Return this system's number for an error of a sandbox; None for an unknown one."""
    try:
        return getattr(errno, GuestErrno(number).name, None)
    except ValueError:
        return None
