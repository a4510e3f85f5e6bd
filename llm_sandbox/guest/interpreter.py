"""Interpreter of a language as a child process: its descriptors, messages, input and end.

Descriptors 0, 1 and 2 are the program's own; on 3 it reads requests and on 4 it writes answers (see
`fields`).
"""

from __future__ import annotations

import array
import fcntl
import os
import resource
import signal
import termios

from . import fields, linux

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_READ = 1 << 16
_REQUESTS, _ANSWERS = 3, 4
_RESET = ("INT", "PIPE", "XFSZ", "CHLD")
_FOLDER = "/tmp"  # noqa: S108 - inside the sandbox


class Interpreter:
    """A running interpreter.

    Args:
        argv: Its command line; the program is searched in PATH of `environment`.
        environment: Its variables.

    Raises:
        OSError: It cannot be started.

    Attributes:
        outputs: Descriptors of its output, with their names ``stdout`` and ``stderr``.
        answers: Descriptor of its answers.
        exit: Descriptor that is readable when it has ended; None where the kernel has no pidfds.
    """

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str]) -> None:
        out_read, out_write = _pipe()
        err_read, err_write = _pipe()
        requests, self._requests = _pipe()
        self.answers, answers = _pipe()
        self.outputs = {out_read: "stdout", err_read: "stderr"}
        self.input = Input()
        report, report_write = os.pipe2(os.O_CLOEXEC)
        self.pid = os.fork()
        if self.pid == 0:
            passed = (self.input.reads, out_write, err_write, requests, answers)
            self._execute(argv, environment, passed, report_write)
        for fd in (out_write, err_write, requests, answers, report_write):
            os.close(fd)
        failure = os.read(report, 4)
        os.close(report)
        if failure:
            os.waitpid(self.pid, 0)
            raise OSError(int(failure), os.strerror(int(failure)), argv[0])
        for fd in (*self.outputs, self.answers, self._requests):
            os.set_blocking(fd, False)
        self.exit = linux.open_pidfd(self.pid)
        self._outbox = bytearray()
        self._reader = fields.FieldReader()
        self.usage = Usage(self.pid)

    def _execute(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        passed: tuple[int, ...],
        report_write: int,
    ) -> None:
        try:
            # Above the passed ones, so that none is overwritten before it is copied.
            report_write = fcntl.fcntl(report_write, fcntl.F_DUPFD_CLOEXEC, 40)
            high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 20) for fd in passed]
            for target, fd in enumerate(high):
                os.dup2(fd, target)
            signal.set_wakeup_fd(-1)
            for name in _RESET:
                signal.signal(getattr(signal, f"SIG{name}"), signal.SIG_DFL)
            # Its own group, so that an interrupt reaches what it has started and not the kernel.
            os.setpgid(0, 0)
            os.execvpe(argv[0], list(argv), dict(environment))
        except OSError as error:
            os.write(report_write, str(error.errno).encode())
        finally:
            os._exit(127)

    # --- messages

    @property
    def requests(self) -> int:
        """Descriptor for requests, to poll for writing while some are `pending`."""
        return self._requests

    @property
    def pending(self) -> bool:
        """Whether requests wait to be written."""
        return bool(self._outbox)

    def send(self, kind: str, *values: tuple[str, str | bytes]) -> None:
        """Send a request; `push` sends the part that does not fit into the pipe at once."""
        self._outbox += fields.encode(kind, values)
        self.push()

    def push(self) -> None:
        """Write pending requests, as far as is possible without waiting."""
        try:
            while self._outbox:
                del self._outbox[: os.write(self._requests, self._outbox[: 1 << 20])]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self._outbox.clear()  # its end is noticed elsewhere

    def receive(self) -> list[fields.Fields] | None:
        """Return the messages that have arrived; None at the end of the answers.

        Raises:
            FieldError: The answers are invalid.
        """
        try:
            data = os.read(self.answers, _READ)
        except BlockingIOError:
            return []
        if not data:
            return None
        self._reader.feed(data)
        return list(self._reader)

    def interrupt(self) -> None:
        """Interrupt the interpreter and its children."""
        try:
            os.killpg(self.pid, signal.SIGINT)
        except ProcessLookupError:
            pass

    @property
    def has_ended(self) -> bool:
        """Whether the interpreter has ended."""
        found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return found is not None

    def exit_alike(self) -> None:
        """Exit with the status or signal of the interpreter; return only if it runs."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid == 0:
            return
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            if number not in (signal.SIGKILL, signal.SIGSTOP):
                signal.signal(number, signal.SIG_DFL)
                signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
            os.kill(os.getpid(), number)
            os._exit(128 + number)
        os._exit(os.WEXITSTATUS(status))


class Input:
    """Standard input of an interpreter: at its end, except while a run has more lines.

    Attributes:
        reads: Descriptor of the reading end.
    """

    def __init__(self) -> None:
        self.reads, writes = os.pipe2(os.O_CLOEXEC)
        self._path = f"/proc/self/fd/{self.reads}"
        try:
            self._writes: int | None = self._open()
        except OSError:
            # A kernel that cannot reopen a pipe can reopen a named one.
            os.close(self.reads)
            self._path = f"{_FOLDER}/.llm-sandbox-{os.urandom(6).hex()}"
            os.mkfifo(self._path, 0o600)
            self.reads = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            os.set_blocking(self.reads, True)
            self._writes = self._open()
        os.close(writes)
        self._waiting = bytearray()
        self.close()

    def _open(self) -> int:
        return os.open(self._path, os.O_WRONLY | os.O_CLOEXEC | os.O_NONBLOCK)

    @property
    def is_open(self) -> bool:
        """Whether more lines may follow."""
        return self._writes is not None

    def open(self) -> None:
        """Reopen the input, so that a reader waits for lines."""
        if self._writes is None:
            self._writes = self._open()

    @property
    def is_exhausted(self) -> bool:
        """Whether the input is open, and every written line was read."""
        self._push()
        if self._writes is None or self._waiting:
            return False
        size = array.array("i", [0])
        fcntl.ioctl(self.reads, termios.FIONREAD, size)
        return size[0] == 0

    def write(self, line: str) -> None:
        """Write one line."""
        self._waiting += f"{line}\n".encode("utf-8", "surrogatepass")
        self._push()

    def _push(self) -> None:
        try:
            while self._writes is not None and self._waiting:
                del self._waiting[: os.write(self._writes, self._waiting)]
        except BlockingIOError:
            pass
        except OSError:
            self.close()

    def close(self) -> None:
        """Close the input, so that a reader gets its end."""
        if self._writes is not None:
            os.close(self._writes)
            self._writes = None
        self._waiting.clear()

    def drain(self) -> None:
        """Close the input, and discard unread lines."""
        self.close()
        os.set_blocking(self.reads, False)
        try:
            while os.read(self.reads, _READ):
                pass
        except BlockingIOError:
            pass
        finally:
            os.set_blocking(self.reads, True)


class Usage:
    """CPU time and memory of the interpreter and its awaited children.

    Args:
        pid: The interpreter.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._before = 0.0

    def begin(self) -> None:
        """Start counting the CPU time of a run."""
        self._before = self._cpu()

    def cpu_s(self) -> float:
        """Return the CPU seconds since `begin`."""
        return max(0.0, self._cpu() - self._before)

    def peak_rss(self) -> int:
        """Return the largest resident size so far, in bytes; 0 if unknown."""
        try:
            with open(f"/proc/{self._pid}/status", "rb") as file:
                for line in file:
                    if line.startswith(b"VmHWM:"):
                        return int(line.split()[1]) << 10
        except (OSError, ValueError, IndexError):
            pass
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10

    def _cpu(self) -> float:
        try:
            with open(f"/proc/{self._pid}/stat", "rb") as file:
                words = file.read().rpartition(b")")[2].split()
            return sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")
        except (OSError, ValueError, IndexError):
            return 0.0


def _pipe() -> tuple[int, int]:
    return os.pipe2(os.O_CLOEXEC)
