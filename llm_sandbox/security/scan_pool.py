"""Pool of scanner processes, each killed when a scan takes too long.

Scans never run in the host's own process: code that takes too much time or memory to scan takes it
from a process that can be killed. A process is started when first needed and serves one scan at a
time; scans of several threads have up to four.
"""

import atexit
import contextlib
import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.limits import Deadline
from llm_sandbox.security.models import SecurityPolicy
from llm_sandbox.security.regex_engine import CodeReader
from llm_sandbox.security.report import ScanReport
from llm_sandbox.security.scan_worker import receive, seconds_for, send
from llm_sandbox.security.source import Source

__all__ = ["SCAN_POOL", "ScanPool"]

_MOST_PROCESSES = max(1, min(4, os.cpu_count() or 1))
_START_S = 60.0
_END_S = 10.0
_LONGEST_REPLY = 64 << 20
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[1:]; "
    "from llm_sandbox.security.scan_worker import main; main()"
)
# Some interpreters need it to find their library; no other variable is passed on.
_VARIABLES = ("LD_LIBRARY_PATH",)
_LATE = (signal.SIGALRM, signal.SIGXCPU)


class _Ended(Exception):
    """End of a scanner process, or of its connection, before the reply."""


class _Process:
    """One scanner process.

    Args:
        pickled: Pickled handler; empty for languages with an engine.
    """

    def __init__(self, pickled: bytes) -> None:
        self.pickled = pickled
        self._is_ready = False
        self._connection, far = socket.socketpair()
        path = [os.path.abspath(entry) for entry in sys.path]  # noqa: PTH100 - "" is one, too
        try:
            # A program of its own and no fork: threads of the host may hold locks. A session of its
            # own, which Ctrl-C in the host's terminal does not reach.
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", _PROGRAM, *path],
                stdin=far.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={name: os.environ[name] for name in _VARIABLES if name in os.environ},
                start_new_session=True,
            )
        except BaseException:
            self._connection.close()
            raise
        finally:
            far.close()

    def ask(self, request: bytes, chars: int, deadline: Deadline) -> bytes:
        """Send a request and return the reply.

        Raises:
            TimeoutError: The reply took too long, and the process was killed.
            ValueError: The reply is too long, and the process was killed.
            _Ended: The process has ended.
        """
        try:
            if not self._is_ready:
                start = Deadline.after(_START_S)
                # One byte before it, for an empty message is the end.
                reply = self._exchange(b"\n" + self.pickled, _sooner(start, deadline))
                if reply != b"{}":
                    return reply
                self._is_ready = True
            end = _sooner(Deadline.after(seconds_for(chars)), deadline)
            return self._exchange(request, end)
        except OSError as error:
            if isinstance(error, TimeoutError):
                raise
            raise _Ended from error

    def _exchange(self, request: bytes, deadline: Deadline) -> bytes:
        def wait() -> None:
            left = deadline.remaining()
            if left == 0:
                raise TimeoutError
            self._connection.settimeout(left)

        wait()
        send(self._connection, request)
        reply = receive(self._connection, _LONGEST_REPLY, wait)
        if not reply:
            raise _Ended
        return reply

    def end(self) -> int:
        """Kill the process, and return the exit status as `subprocess` does."""
        self._connection.close()
        self._process.kill()
        return self._process.wait()

    def exit_status(self) -> int:
        """Wait for the end of a process that closed its connection, and return the exit status."""
        self._connection.close()
        try:
            return self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            return self.end()

    def forget(self) -> None:
        """Close the connection to a process of the parent, after a fork."""
        self._connection.close()
        # Or it would be warned of as one that nobody waited for.
        self._process.returncode = 0


class ScanPool:
    """Scanner processes of one host process: one for each processor, at most four."""

    def __init__(self) -> None:
        self._renew()
        atexit.register(self.close)
        os.register_at_fork(after_in_child=self._forget)

    def read(
        self,
        source: Source,
        policy: SecurityPolicy,
        reader: CodeReader | None,
        timeout: float | None,
    ) -> ScanReport | str:
        """Return the report of a program, or the reason why it was not scanned.

        Args:
            source: The program.
            policy: The policy that grades the findings.
            reader: The handler of a language without an engine; None for the others.
            timeout: Timeout in seconds, if that is before the scan's own deadline.

        Raises:
            ValidationError: The handler cannot be pickled.
        """
        deadline = Deadline.after(timeout)
        chars = len(source.text)
        left = deadline.remaining()
        seconds = seconds_for(chars) if left is None else min(left, seconds_for(chars))
        pickled = _pickled(reader)
        request = {
            "code": source.text,
            "lang": source.lang,
            "notebook": source.notebook,
            "policy": policy.model_dump_json(warnings=False),
            "seconds": seconds,
        }
        try:
            return self._ask(json.dumps(request).encode(), chars, pickled, deadline)
        except TimeoutError:
            return f"reading it takes longer than {seconds:.3g} seconds"
        except (ValueError, RecursionError, ValidationError):
            return "the scanner process returned an invalid report"
        except OSError as error:
            return f"the scanner process could not be started: {error.strerror}"

    def warm_up(self) -> None:
        """Start a process unless one exists, without waiting; a later scan reports failures."""
        with self._free, contextlib.suppress(OSError):
            if not self._all:
                self._idle.append(self._started(b""))

    def close(self) -> None:
        """End all idle processes; later scans start others."""
        with self._free:
            for process in self._idle:
                self._all.discard(process)
                process.end()
            self._idle.clear()

    def _ask(
        self, request: bytes, chars: int, pickled: bytes, deadline: Deadline
    ) -> ScanReport | str:
        while True:
            process, is_used = self._take(pickled, deadline)
            try:
                reply = json.loads(process.ask(request, chars, deadline))
            except _Ended:
                status = process.exit_status()
                self._drop(process)
                # The process was idle for long, or had grown large: the code is not the reason.
                if is_used and not status:
                    continue
                if -status in _LATE:
                    raise TimeoutError from None
                return f"the scanner process ended ({_ending(status)})"
            except BaseException:
                process.end()
                self._drop(process)
                raise
            self._give_back(process)
            return ScanReport.from_dict(reply) if "schema" in reply else str(reply["problem"])

    def _take(self, pickled: bytes, deadline: Deadline) -> tuple[_Process, bool]:
        """Return a process for exclusive use, and whether it already existed."""
        with self._free:
            while True:
                for process in self._idle:
                    if process.pickled == pickled:
                        self._idle.remove(process)
                        return process, True
                if len(self._all) >= _MOST_PROCESSES and self._idle:
                    other = self._idle.pop(0)
                    other.end()
                    self._all.discard(other)
                if len(self._all) < _MOST_PROCESSES:
                    return self._started(pickled), False
                if not self._free.wait(deadline.remaining()):
                    raise TimeoutError

    def _started(self, pickled: bytes) -> _Process:
        process = _Process(pickled)
        self._all.add(process)
        return process

    def _give_back(self, process: _Process) -> None:
        with self._free:
            self._idle.append(process)
            self._free.notify_all()

    def _drop(self, process: _Process) -> None:
        with self._free:
            self._all.discard(process)
            self._free.notify_all()

    def _renew(self) -> None:
        self._free = threading.Condition()
        self._all: set[_Process] = set()
        self._idle: list[_Process] = []

    def _forget(self) -> None:
        for process in self._all:
            process.forget()
        self._renew()


def _sooner(one: Deadline, other: Deadline) -> Deadline:
    return one if other.at is None or (one.at is not None and one.at < other.at) else other


def _pickled(reader: CodeReader | None) -> bytes:
    if reader is None:
        return b""
    try:
        return pickle.dumps(reader)
    except Exception as error:
        raise ValidationError(
            f"invalid handler of {reader.name}: expected an object that pickle can copy, of a "
            f"class at the top of a module ({error})",
            parameter="reader",
        ) from error


def _ending(status: int) -> str:
    return f"by signal {-status}" if status < 0 else f"with exit code {status}"


SCAN_POOL = ScanPool()
"""Pool that all scans of this process share."""
