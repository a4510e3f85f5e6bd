"""Host's end of a runner of tests, and the runs that come back."""

import contextlib
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from llm_sandbox.backends.base import Backend, MachineSpec
from llm_sandbox.evaluation.limits import EvalLimits
from llm_sandbox.exceptions import BackendError, ProtocolError, SandboxError
from llm_sandbox.guest.bulk import Connection, Record
from llm_sandbox.guest.candidate import READY
from llm_sandbox.host.guest_numbers import exit_status
from llm_sandbox.session import transfer

__all__ = ["CallRun", "Run", "Runner", "TestFile"]

_ANSWER_EXTRA_S = 30.0
_MOST_VALUE = 16 * 1024 * 1024
_MOST_REPLY = 1 << 20
_OUT_OF_MEMORY = re.compile(
    r"\bMemoryError\b|std::bad_alloc|java\.lang\.OutOfMemoryError|heap out of memory"
    r"|runtime: out of memory|memory allocation of \d+ bytes failed"
)
_TAIL = 2000
_SLACK = 1.1
"""A run is stopped a little after its limit, so that one which comes to its end there can be told
from one that never would, and be repeated."""


_KILLED: Record = {
    "status": 9,
    "cpu_s": 0.0,
    "wall_s": 0.0,
    "delay_s": None,
    "peak": 0,
    "ended_by": None,
}
"""Reply of a runner that a test has killed, and itself with it."""


@dataclass(frozen=True)
class TestFile:
    """Content of a file of a test."""

    __test__ = False

    content: bytes
    mode: int = 0o644
    """Permissions."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run of a program, a compiler or the loading of a module."""

    exit_code: int | None
    """Exit code, 128 and the number for a signal; None if the process did not end by itself."""
    signal: int | None
    """Signal that ended it by itself."""
    ended_by: str | None
    """Limit that ended it: ``cpu``, ``wall``, ``idle``, ``output`` or ``memory``."""
    cpu_s: float
    """CPU time of all processes."""
    wall_s: float
    """Time by the clock."""
    delay_s: float | None
    """Time that it waited for a CPU; None if not known."""
    peak: int
    """Largest resident memory of a process, in bytes."""
    stdout: bytes
    """Standard output."""
    stderr: bytes
    """Beginning and end of the standard error."""
    is_started: bool = True
    """True if its code was compiled and started."""
    start_error: Mapping[str, Any] | None = None
    """Reason that it did not start: ``error``, and ``line`` and ``column`` of a syntax error."""
    was_killed_for_memory: bool = False
    """True if the kernel killed one of its processes for want of memory."""
    files: tuple[bytes, ...] = ()
    """Content of the files that were asked for."""

    @property
    def stderr_text(self) -> str:
        """End of the standard error."""
        return self.stderr[-4 * _TAIL :].decode("utf-8", "replace")[-_TAIL:]

    @property
    def stdout_text(self) -> str:
        """End of the standard output."""
        return self.stdout[-4 * _TAIL :].decode("utf-8", "replace")[-_TAIL:]

    @property
    def ran_out_of_memory(self) -> bool:
        """True if an allocation failed, by the program's own last words."""
        return self.exit_code != 0 and bool(_OUT_OF_MEMORY.search(self.stderr_text))

    @property
    def is_contended(self) -> bool:
        """True if other work took more than a fifth of its time."""
        return self.delay_s is not None and self.delay_s > 0.2 * self.wall_s


@dataclass(frozen=True, kw_only=True)
class CallRun(Run):
    """One call of a function of a candidate."""

    has_returned: bool = False
    """True if a value came back, or an exception."""
    value: Any = None
    """Value that the function returned."""
    raised: Mapping[str, Any] | None = None
    """Exception: ``type``, ``bases`` (names of its built-in classes) and ``message``."""
    not_transferable: Mapping[str, Any] | None = None
    """Reason that the value could not be transferred: ``message``, ``type`` and ``path``."""
    made_of: str | None = None
    """Kind of iterator or view that the value was made of, for `call_encoded`."""


class Runner:
    """Connection to the runner of one machine.

    Every failure of the machine is raised as a `SandboxError`, and never seen as one of the code
    that is tested.

    Args:
        backend: Backend of the machine.
        limits: Limits of tests.
        preload: Libraries that candidates find loaded.

    Raises:
        SandboxError: The machine could not be made.
    """

    def __init__(self, backend: Backend, limits: EvalLimits, preload: Sequence[str] = ()) -> None:
        self._limits = limits
        spec = MachineSpec(limits=limits.to_machine_limits())
        self._machine, self._stream = backend.create_runner(spec, preload)
        self._connection = Connection(self._stream)
        memory = self._machine.isolation.controls.get("memory")
        self._counts_memory = memory is not None and memory.state == "enforced"
        self._kills = self._oom_kills()
        self.is_clean = True
        """True if nothing is left of earlier tests."""
        self.is_loaded = False
        """True if a module is loaded."""

    @property
    def workdir(self) -> str:
        """Working directory of tests."""
        return self._machine.spec.workdir

    def language_folder(self, language: str) -> str:
        """Return the folder inside of this library's files for a language."""
        return self._machine.language_folder(language)

    def setup(self, environment: Mapping[str, str], files: Mapping[str, TestFile]) -> None:
        """Set the variables and the files that every test finds."""
        variables = {**self._machine.base_env(), **environment}
        self._request(
            "setup", [file.content for file in files.values()], env=variables, files=_facts(files)
        )

    def compile(self, argv: Sequence[str]) -> Run:
        """Run a compiler, whose products become files of every test."""
        limit = self._limits.compile_time
        reply, chunks = self._request(
            "compile",
            argv=list(argv),
            limits=self._run_limits(limit, 3 * limit),
            keep_bytes=self._limits.files,
        )
        return Run(**self._facts_of(reply, chunks))

    def program(
        self,
        argv: Sequence[str],
        *,
        script: str | None = None,
        stdin: bytes = b"",
        files: Mapping[str, TestFile] | None = None,
        fetch: Sequence[str] = (),
        seed: int = 0,
        has_deep_stack: bool = False,
    ) -> Run:
        """Run a program.

        Args:
            argv: Command line; for a script its arguments.
            script: File of Python that runs as `__main__` in a fork of a loaded interpreter; None
                for another program.
            stdin: Standard input.
            files: Further files.
            fetch: Paths of files to read after the run.
            seed: Seed of random numbers of a script.
            has_deep_stack: Whether the stack may take all of the memory.
        """
        given = files or {}
        reply, chunks = self._request(
            "program",
            [stdin, *(file.content for file in given.values())],
            argv=list(argv),
            script=script,
            files=_facts(given),
            limits=self._run_limits(_SLACK * self._limits.cpu_time, self._limits.wall_seconds),
            fetch=list(fetch),
            seed=seed,
            deep_stack=self._limits.memory if has_deep_stack else 0,
        )
        return Run(**self._facts_of(reply, chunks), files=tuple(chunks[2:]))

    def load(self, code: bytes, setup: bytes, *, path: str, seed: int = 0) -> Run:
        """Load a module of Python."""
        reply, chunks = self._request(
            "load",
            [code, setup],
            path=path,
            seed=seed,
            limits=self._run_limits(_SLACK * self._limits.cpu_time, self._limits.wall_seconds),
        )
        self.is_loaded = reply.get("is_loaded") is True
        return Run(**self._facts_of(reply, chunks))

    def call(
        self, function: str, args: Sequence[Any], kwargs: Mapping[str, Any], *, inline: bool = False
    ) -> CallRun:
        """Call a function of the loaded module.

        Args:
            function: Its name; see `CallTest`. With `inline` one of `guest.inline_tests`.
            args: Positional arguments.
            kwargs: Keyword arguments.
            inline: Whether tests run beside the module.

        Raises:
            ValueNotTransferableError: An argument is no plain data, array or table.
        """
        parts = list(transfer.write([list(args), dict(kwargs)]))
        run, encoded = self.call_encoded(function, parts, inline=inline)
        if not run.has_returned or run.raised is not None or run.not_transferable is not None:
            return run
        try:
            value = transfer.read([memoryview(part) for part in encoded])
        except (SandboxError, ImportError) as error:
            return replace(run, not_transferable={"message": str(error)})
        return replace(run, value=value)

    def call_encoded(
        self,
        function: str,
        parts: Sequence[bytes],
        *,
        inline: bool = False,
        with_arguments: bool = False,
    ) -> tuple[CallRun, list[bytes]]:
        """Call a function with encoded arguments, and return the value encoded as well.

        Args:
            function: As for `call`.
            parts: Header and blob of a list of arguments and a dictionary of those by keyword.
            inline: As for `call`.
            with_arguments: Whether the value is a list of the value and of both as they are after
                the call.
        """
        nonce = secrets.token_hex(8)
        reply, chunks = self._request(
            "call",
            parts,
            fn=None if inline else function,
            inline=function if inline else None,
            nonce=nonce,
            limit=_MOST_VALUE,
            with_arguments=with_arguments,
            limits=self._run_limits(_SLACK * self._limits.cpu_time, self._limits.wall_seconds),
        )
        self.is_loaded = reply.get("is_loaded") is True
        found = self._facts_of(reply, chunks)
        # trust: the facts come from the candidate's own process.
        facts = reply.get("facts")
        if not isinstance(facts, dict) or facts.get("nonce") != nonce:
            return CallRun(**found), []
        run = CallRun(
            **found,
            has_returned=True,
            raised=_mapping(facts.get("raised")),
            not_transferable=_mapping(facts.get("not_transferable")),
            made_of=facts.get("made_of"),
        )
        return run, chunks[2:4]

    def judge(
        self,
        source: str,
        setup: str,
        entry_point: str | None,
        answer: Callable[[str, list[bytes]], tuple[CallRun, list[bytes]] | None],
    ) -> tuple[Run, Mapping[str, Any] | None]:
        """Run assertions about a candidate that is in another sandbox.

        Args:
            source: The assertions.
            setup: Code that runs before them.
            entry_point: Name that their function ``check`` is called with.
            answer: Calls a function of the candidate; None ends the assertions.

        Returns:
            The run, and how the assertions ended; None if they did not come to an end.
        """
        parts = [text.encode("utf-8", "surrogatepass") for text in (source, setup)]
        limits = self._run_limits(self._limits.cpu_time, self._limits.wall_seconds)
        ended: Mapping[str, Any] | None = None
        self._send("judge", parts, entry_point=entry_point, seed=0, limits=limits)
        while True:
            record, chunks = self._receive("judge", limits["wall_s"])
            if record.get("event") != "call":
                return Run(**self._facts_of(record, chunks)), ended
            if "ended" in record:
                ended = _mapping(record["ended"]) or {}
                self._send(None, [], is_over=True)
                continue
            given = answer(str(record.get("fn")), chunks)
            if given is None:
                self._send(None, [], is_over=True)
                continue
            run, encoded = given
            facts = {
                "raised": run.raised,
                "not_transferable": run.not_transferable,
                "made_of": run.made_of,
            }
            self._send(None, encoded or [b"", b""], **facts)

    def begin_dialogue(
        self,
        argv: Sequence[str],
        *,
        script: str | None = None,
        files: Mapping[str, TestFile] | None = None,
        seed: int = 0,
    ) -> None:
        """Start a program whose streams are read and written by `next_output` and `send_input`."""
        given = files or {}
        self._send(
            "dialogue",
            [file.content for file in given.values()],
            argv=list(argv),
            script=script,
            files=_facts(given),
            limits=self._run_limits(_SLACK * self._limits.cpu_time, self._limits.wall_seconds),
            seed=seed,
        )

    def fileno(self) -> int:
        """Return the descriptor that is readable when `next_output` would not wait."""
        return self._stream.fileno()

    def next_output(self) -> bytes | Run:
        """Return a piece of output of a dialogue, nothing at its end, or the run that has ended."""
        record, chunks = self._receive("dialogue", self._limits.wall_seconds)
        if record.get("event") == "output":
            return chunks[0]
        return Run(**self._facts_of(record, chunks))

    def send_input(self, data: bytes) -> None:
        """Send input to the program of a dialogue; nothing is its end."""
        self._send(None, [data])

    def end_dialogue(self) -> None:
        """Have the program of a dialogue ended."""
        self._send(None, [], is_over=True)

    def close(self) -> None:
        """End the machine."""
        self._stream.close()
        self._machine.destroy()

    def _oom_kills(self) -> int:
        return (self._machine.limit_events().oom_kills or 0) if self._counts_memory else 0

    # --- protocol

    def _run_limits(self, cpu_s: float, wall_s: float) -> dict[str, Any]:
        return {
            "cpu_s": cpu_s,
            "wall_s": wall_s,
            "output": self._limits.output,
            "memory": None if self._counts_memory else self._limits.memory,
        }

    def _request(
        self, op: str, parts: Sequence[bytes] = (), **fields: Any
    ) -> tuple[Record, list[bytes]]:
        self._send(op, parts, **fields)
        return self._receive(op, fields["limits"]["wall_s"] if "limits" in fields else 0.0)

    def _send(self, op: str | None, parts: Sequence[bytes], **fields: Any) -> None:
        name = {} if op is None else {"op": op}
        try:
            self._connection.send_record({**name, "sizes": [len(part) for part in parts], **fields})
            for part in filter(None, parts):
                self._connection.send_chunk(part)
        except OSError as error:
            raise self._failure(op or "send", error) from error

    def _receive(self, op: str, wait_s: float) -> tuple[Record, list[bytes]]:
        self._stream.settimeout(_ANSWER_EXTRA_S + wait_s)
        try:
            reply = self._connection.receive_record(_MOST_REPLY)
            received = self._connection.chunks()
            chunks = [next(received) if size else b"" for size in reply["sizes"]]
        except (OSError, EOFError, KeyError, TypeError, StopIteration) as error:
            if op != "setup" and self._may_be_killed(error):
                self.is_clean = self.is_loaded = False
                return dict(_KILLED), [b"", b"", b"", b""]
            raise self._failure(op, error) from error
        if "error" in reply:
            raise ProtocolError(f"the runner of tests failed: {reply['error']}", op=op)
        if "event" not in reply:
            self.is_clean = reply.get("is_dirty") is False
        return reply, chunks

    def _may_be_killed(self, error: Exception) -> bool:
        """Return whether a test has ended the runner, where it can: the machine is still there."""
        is_end = isinstance(error, EOFError | ConnectionError)
        machine = self._machine
        return is_end and not machine.protects_runner and machine.end_reason is None

    def _failure(self, op: str, error: Exception) -> SandboxError:
        reason = self._machine.end_reason
        words = f"the sandbox has ended ({reason})" if reason else f"no answer: {error}"
        return BackendError(
            f"the runner of tests was lost in {op!r}: {words}",
            op=op,
            backend=self._machine.isolation.backend,
            retryable=True,
        )

    def _facts_of(self, reply: Record, chunks: Sequence[bytes]) -> dict[str, Any]:
        status = reply["status"]
        code, number = exit_status(status) if isinstance(status, int) else (None, None)
        ended_by = reply["ended_by"]
        facts: dict[str, Any] = {
            "exit_code": None if ended_by else code,
            "signal": None if ended_by else number,
            "ended_by": ended_by,
            "cpu_s": float(reply["cpu_s"]),
            "wall_s": float(reply["wall_s"]),
            "delay_s": reply["delay_s"],
            "peak": int(reply["peak"]),
            "stdout": chunks[0],
            "stderr": chunks[1],
        }
        report = reply.get("report")
        if report is not None and report != READY.decode():
            facts["is_started"] = not report
            if report:
                facts["start_error"] = _report(report)
        if self._counts_memory and (number is not None or code not in (0, None)):
            before, self._kills = self._kills, self._oom_kills()
            facts["was_killed_for_memory"] = self._kills > before
        return facts


def _facts(files: Mapping[str, TestFile]) -> list[dict[str, Any]]:
    return [{"path": path, "mode": file.mode} for path, file in files.items()]


def _mapping(value: object) -> Mapping[str, Any] | None:
    return value if isinstance(value, dict) else None


def _report(text: str) -> Mapping[str, Any]:
    import json

    with contextlib.suppress(ValueError):
        found = json.loads(text)
        if isinstance(found, dict):
            return found
    return {"error": text}
