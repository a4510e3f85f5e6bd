"""Runner of tests: the process of a machine that forks candidates, and never runs their code.

It is the machine's first process where the machine has namespaces of its own; there no candidate
can signal, trace or read it. It has one test's input at a time, and no expected value at all.

It serves one connection with the records and chunks of `bulk`. Chunks of ``sizes`` bytes follow a
request and its reply:

    setup    variables, and files that every test finds
    compile  runs a compiler, whose products become such files
    program  runs a program with an input
    load     loads a module of Python
    call     calls a function of that module, or runs tests beside it, in a fork of the process
             that loaded it
    judge    runs assertions in which a candidate's functions are calls that the host answers
    dialogue runs a program whose streams are those of another one

After each test everything that it started is killed, and what it wrote is removed; where that is
not possible, ``is_dirty`` is true in the reply, and the host takes another machine.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import resource
import select
import signal
import socket

from . import assertions, candidate, linux, test_run
from .bulk import Connection, Record
from .confinement import Confinement, close_all_but, data_bytes, set_limit
from .dialogue import Dialogue
from .test_run import Output, RunLimits, Usage, Watch
from .test_workspace import Workspace
from .value_exchange import ValueExchange

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import NoReturn

    Reply = tuple[Record, list[bytes]]

_MOST_REPORT = 1 << 16
_MOST_RECORD = 1 << 20
_REPORT_S = 5.0
_MODE = 0o644
_PID_NAMESPACE_OF_THE_COMPUTER = "pid:[4026531836]"
"""Linux gives the first namespace a fixed number (PROC_PID_INIT_INO)."""


_streams: candidate.Streams | None = None
"""Streams of programs, whose input is a file."""


def preload(modules: Sequence[str]) -> None:
    """Import what candidates share, before the first machine is made.

    Args:
        modules: Names of libraries; those that are missing are left out.
    """
    for name in ("shim.values", "atexit", "types", *modules):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    # What each fork would do again, in memory of its own.
    global _streams
    _streams = candidate.prepare_streams(os.memfd_create("input"))
    with contextlib.suppress(OSError):
        linux.command_line_area()
    # A fork's garbage collections would otherwise write to every object that it shares.
    gc.collect()
    gc.freeze()


def serve(stream: socket.socket, confinement: Confinement, workdir: str) -> NoReturn:
    """Serve the host as the process of a machine that all candidates are forked from."""
    limits = confinement.rlimits
    # The limits are for candidates; all else holds for this process and its children alike.
    confinement.rlimits = {}
    confinement.apply()
    linux.set_undumpable()
    linux.set_process_name("runner")
    signal.set_wakeup_fd(-1)
    # As every child has it; a first process is not ended by any of these.
    for name in ("CHLD", "TERM", "HUP", "QUIT"):
        signal.signal(getattr(signal, f"SIG{name}"), signal.SIG_DFL)
    _run(stream, limits, confinement.raisable, workdir, frozenset({os.getpid()}))


def main(modules: Sequence[str]) -> NoReturn:
    """Serve the host, on standard input, as an ordinary process of a machine.

    Candidates are processes of the same user: they can end the runner, and then the machine is gone
    for their test.

    Args:
        modules: As for `preload`.
    """
    if os.readlink("/proc/self/ns/pid") == _PID_NAMESPACE_OF_THE_COMPUTER:
        # It would kill every process of the computer.
        os._exit(126)
    preload(modules)
    stream = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    with contextlib.suppress(OSError):  # gVisor's kernel has none: orphans are not counted there
        linux.set_child_subreaper()
    linux.set_undumpable()
    linux.set_process_name("runner")
    spared = frozenset(test_run.processes(()))
    _run(stream, {}, [], os.getcwd(), spared)


def _run(
    stream: socket.socket,
    rlimits: dict[str, int],
    raisable: Sequence[str],
    workdir: str,
    spared: frozenset[int],
) -> NoReturn:
    workspace = Workspace([workdir, *(path for path in _TEMPORARY if os.path.isdir(path))])
    with contextlib.suppress(EOFError, OSError):
        Runner(Connection(stream), rlimits, raisable, workspace, spared).run()
    os._exit(0)


_TEMPORARY = ("/tmp", "/dev/shm")  # noqa: S108 - of the machine


class Runner:
    """The loop of the runner.

    Args:
        connection: Connection to the host.
        rlimits: Limits of each process of a test, by name.
        raisable: Those that a process may raise.
        workspace: Files.
        spared: Processes of the machine that are no part of any test, this one among them.
    """

    def __init__(
        self,
        connection: Connection,
        rlimits: dict[str, int],
        raisable: Sequence[str],
        workspace: Workspace,
        spared: frozenset[int],
    ) -> None:
        self._connection = connection
        self._rlimits = rlimits
        self._raisable = raisable
        self._workspace = workspace
        self._spared = spared
        self._inherited = data_bytes()
        self._loaded: _Loaded | None = None

    def run(self) -> None:
        """Serve until the host hangs up.

        Raises:
            EOFError: The host has hung up.
        """
        while True:
            request = self._connection.receive_record()
            parts = [self._receive(size) for size in request["sizes"]]
            if "op" not in request:
                continue  # late input of a dialogue that has ended
            chunks: list[bytes] = []
            try:
                reply, chunks = getattr(self, f"_op_{request['op']}")(request, parts)
                reply["is_dirty"] = not self._workspace.clean()
            except Exception as error:  # noqa: BLE001 - for the host a failure of the machine
                reply = {"error": f"{type(error).__name__}: {error}"}
            self._send(reply, chunks)

    def _send(self, record: Record, chunks: list[bytes]) -> None:
        self._connection.send_record({**record, "sizes": [len(chunk) for chunk in chunks]})
        for chunk in filter(None, chunks):
            self._connection.send_chunk(chunk)

    def _receive(self, size: int) -> bytes:
        return self._receive_from(self._connection, size)

    @staticmethod
    def _receive_from(connection: Connection, size: int) -> bytes:
        return next(connection.chunks()) if size else b""

    # --- requests

    def _op_setup(self, request: Record, parts: list[bytes]) -> Reply:
        # Once and for all: every child inherits it.
        os.environ.clear()
        os.environ.update(request["env"])
        self._workspace.files |= _files(request["files"], parts)
        return {}, []

    def _op_compile(self, request: Record, parts: list[bytes]) -> Reply:
        nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

        def start(report: int, stdout: int, stderr: int) -> NoReturn:
            self._execute(request["argv"], (nothing, stdout, stderr), report)

        self._workspace.write({})
        reply, chunks = self._run(start, RunLimits(request["limits"]))
        os.close(nothing)
        if reply["status"] == 0:
            self._workspace.keep_products(request["keep_bytes"])
        return reply, chunks

    def _op_program(self, request: Record, parts: list[bytes]) -> Reply:
        stdin, *contents = parts
        files = _files(request["files"], contents)
        argv, script = request["argv"], request.get("script")
        limits = RunLimits(request["limits"])
        self._workspace.write(files)
        given = self._workspace.open_input(stdin)

        def start(report: int, stdout: int, stderr: int) -> NoReturn:
            if script is None:
                self._execute(argv, (given, stdout, stderr), report)
            candidate.set_streams(given, stdout, stderr, _streams)
            close_all_but([report])
            candidate.seed(request["seed"])
            source = (self._workspace.files | files)[script][0]
            code = source.decode("utf-8", "surrogateescape")
            candidate.run_program(self._workspace.path(script), code, argv, report)

        stack = request["deep_stack"] or None
        reply, chunks = self._run(start, limits, stack=stack, keeps_output=True)
        os.close(given)
        chunks += [self._workspace.read(name, limits.output) for name in request["fetch"]]
        return reply, chunks

    # --- calls

    def _op_load(self, request: Record, parts: list[bytes]) -> Reply:
        self._unload(Usage())
        code, setup = (part.decode("utf-8", "surrogateescape") for part in parts)
        self._workspace.write({request["path"]: (parts[0], _MODE)})
        near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

        def start(report: int, stdout: int, stderr: int) -> NoReturn:
            candidate.set_streams(os.open(os.devnull, os.O_RDONLY), stdout, stderr)
            close_all_but([report, far.fileno()])
            candidate.seed(request["seed"])
            path = self._workspace.path(request["path"])
            candidate.serve_calls(code, setup, path, far, report)

        with far:
            reply, chunks = self._run(start, RunLimits(request["limits"]), until=near)
        if reply["is_loaded"]:
            files = {request["path"]: (parts[0], _MODE)}
            self._loaded = _Loaded(reply["pid"], near, files, self._spared)
        else:
            near.close()
        return reply, chunks

    def _op_call(self, request: Record, parts: list[bytes]) -> Reply:
        loaded = self._loaded
        if loaded is None:
            raise LookupError("no module is loaded")
        # Its errors show lines of it.
        self._workspace.write(loaded.files)
        limits = RunLimits(request["limits"])
        baseline_s = test_run.living_cpu(self._spared)
        stdout, out_write = _output(limits)
        stderr, err_write = _output(limits)
        near, far = socket.socketpair()
        exchange = ValueExchange(near, parts, request["limit"])
        watch = Watch(loaded.pid, limits, spared=self._spared, baseline_s=baseline_s)
        with far:
            loaded.call(request, (far.fileno(), out_write, err_write))
        os.close(out_write)
        os.close(err_write)
        watch.add_output(stdout)
        watch.add_output(stderr)
        loaded.watch(watch, exchange)
        watch.run()
        processes = test_run.processes(loaded.spared)
        reply: Record = {
            "status": loaded.status,
            "cpu_s": watch.cpu_s(),
            "wall_s": watch.wall_s,
            "delay_s": max(filter(None, map(test_run.run_delay, processes)), default=None),
            "peak": test_run.peak_memory(processes),
            "ended_by": watch.ended_by,
            "facts": None,
        }
        value = [b"", b""]
        if exchange.facts is not None and exchange.facts.get("nonce") == request["nonce"]:
            reply["facts"], value = exchange.facts, exchange.parts
        near.close()
        if watch.has_exited or watch.ended_by is not None or not loaded.end_call(processes):
            self._unload(Usage())
        reply["is_loaded"] = self._loaded is not None
        for output in (stdout, stderr):
            output.drain()
        reply["output_bytes"] = [stdout.size, stderr.size]
        return reply, [stdout.data, stderr.data, *value]

    # --- conversations with the host

    def _op_judge(self, request: Record, parts: list[bytes]) -> Reply:
        source, setup = (part.decode("utf-8", "surrogateescape") for part in parts)
        near, far = socket.socketpair()

        def start(report: int, stdout: int, stderr: int) -> NoReturn:
            candidate.set_streams(os.open(os.devnull, os.O_RDONLY), stdout, stderr)
            close_all_but([report, far.fileno()])
            candidate.seed(request["seed"])
            os.write(report, candidate.READY)
            os.close(report)
            assertions.run(source, setup, request["entry_point"], far)

        def attend(watch: Watch) -> None:
            channel = Connection(near)

            def answer(_: int) -> bool:
                # The time in which the host has a call answered is not that of the assertions.
                with watch.paused():
                    try:
                        asked = channel.receive_record(_MOST_RECORD)
                        call = [self._receive_from(channel, size) for size in asked["sizes"]]
                    except (EOFError, OSError, KeyError, TypeError):
                        return False
                    self._send({**asked, "event": "call"}, call)
                    reply = self._connection.receive_record()
                    value = [self._receive(size) for size in reply["sizes"]]
                    if reply.get("is_over"):
                        watch.finish()
                        return False
                    with contextlib.suppress(OSError):
                        channel.send_record(reply)
                        for part in filter(None, value):
                            channel.send_chunk(part)
                return True

            watch.add(near.fileno(), select.POLLIN, answer)

        with near:
            return self._run(start, RunLimits(request["limits"]), attend=attend, after_fork=far)

    def _op_dialogue(self, request: Record, parts: list[bytes]) -> Reply:
        files = _files(request["files"], parts)
        argv, script = request["argv"], request.get("script")
        self._workspace.write(files)
        dialogue = Dialogue(self._connection)

        def start(report: int, stdout: int, stderr: int) -> NoReturn:
            if script is None:
                self._execute(argv, (dialogue.read, stdout, stderr), report)
            candidate.set_streams(dialogue.read, stdout, stderr)
            close_all_but([report])
            candidate.seed(request["seed"])
            source = (self._workspace.files | files)[script][0]
            code = source.decode("utf-8", "surrogateescape")
            candidate.run_program(self._workspace.path(script), code, argv, report)

        limits = RunLimits(request["limits"])
        reply, chunks = self._run(
            start, limits, attend=dialogue.attend, on_output=dialogue.send_output
        )
        dialogue.close()
        return reply, chunks

    def _unload(self, usage: Usage) -> None:
        loaded, self._loaded = self._loaded, None
        if loaded is not None:
            loaded.requests.close()
            test_run.kill_everything()
            test_run.reap_everything(usage)

    # --- runs

    def _run(
        self,
        start: Callable[[int, int, int], NoReturn],
        limits: RunLimits,
        *,
        keeps_output: bool = False,
        stack: int | None = None,
        until: socket.socket | None = None,
        after_fork: socket.socket | None = None,
        attend: Callable[[Watch], None] | None = None,
        on_output: Callable[[bytes], None] | None = None,
    ) -> Reply:
        """Run a test in a child.

        Args:
            start: Called in the child with the descriptors of the report and of its output.
            limits: Limits.
            keeps_output: Whether all of the standard output is kept, and not its ends only.
            stack: Size of the stack; None for the usual one.
            until: Connection to a child that lives on when it has said that it is loaded.
            after_fork: Socket to close when the child has it.
            attend: Called with the watch before it begins.
            on_output: Called with each piece of standard output, none at its end.

        Returns:
            What came of it, its output and its errors.
        """
        report, report_write = os.pipe2(os.O_CLOEXEC)
        stdout, out_write = _output(limits, ends=not keeps_output)
        stderr, err_write = _output(limits)
        pid = os.fork()
        if pid == 0:
            self._become_candidate(lambda: start(report_write, out_write, err_write), stack)
        for fd in (report_write, out_write, err_write):
            os.close(fd)
        if after_fork is not None:
            after_fork.close()
        stdout.on_data = on_output
        watch = Watch(pid, limits, spared=self._spared)
        if attend is not None:
            attend(watch)
        watch.add_output(stdout)
        watch.add_output(stderr)
        is_loaded = False

        def loaded(_: int) -> bool:
            nonlocal is_loaded
            with contextlib.suppress(OSError):
                is_loaded = until is not None and until.recv(1) == candidate.READY
            if is_loaded:
                watch.finish()
            return False

        if until is not None:
            watch.add(until.fileno(), select.POLLIN, loaded)
        watch.run()
        usage = Usage()
        delay_s = test_run.run_delay(pid)
        if is_loaded:
            status = None
            usage.cpu_s, usage.peak = watch.cpu_s(), test_run.peak_memory([pid])
        else:
            test_run.kill_everything()
            status = test_run.reap_everything(usage, pid)
        for output in (stdout, stderr):
            output.drain()
        reply: Record = {
            "pid": pid,
            "is_loaded": is_loaded,
            "status": status,
            "cpu_s": usage.cpu_s,
            "wall_s": watch.wall_s,
            "delay_s": delay_s,
            "peak": usage.peak,
            "ended_by": watch.ended_by,
            "output_bytes": [stdout.size, stderr.size],
            "report": _read_report(report),
        }
        return reply, [stdout.data, stderr.data]

    def _become_candidate(self, start: Callable[[], NoReturn], stack: int | None) -> NoReturn:
        try:
            os.setsid()
            signal.signal(signal.SIGINT, signal.default_int_handler)
            linux.set_dumpable()
            for name, value in self._rlimits.items():
                # Inherited memory is shared with every fork; the limit is for further memory.
                soft = value + self._inherited if name == "DATA" else value
                hard = resource.RLIM_INFINITY if name in self._raisable else soft
                set_limit(getattr(resource, f"RLIMIT_{name}"), soft, hard)
            if stack is not None:
                set_limit(resource.RLIMIT_STACK, stack, resource.RLIM_INFINITY)
            os.chdir(self._workspace.workdir)
            start()
        except BaseException as error:  # noqa: BLE001 - nothing may unwind into the runner's loop
            with contextlib.suppress(OSError):
                os.write(2, f"the test could not start: {error}\n".encode("utf-8", "replace"))
        finally:
            os._exit(127)

    def _execute(self, argv: list[str], streams: tuple[int, int, int], report: int) -> NoReturn:
        for target, fd in enumerate(streams):
            os.dup2(fd, target)
        close_all_but([report])
        # As a program finds it that a shell starts.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        try:
            os.execvp(argv[0], argv)
        except OSError as error:
            os.write(report, json.dumps({"error": f"{argv[0]}: {error.strerror}"}).encode())
        os._exit(127)


class _Loaded:
    """Process that has loaded a module.

    Attributes:
        pid: The process.
        requests: Connection to it.
        files: Its file.
        spared: Processes that are no part of a call.
        status: Raw status of the process of the present call, once that has ended.
    """

    def __init__(
        self,
        pid: int,
        requests: socket.socket,
        files: dict[str, tuple[bytes, int]],
        spared: frozenset[int],
    ) -> None:
        self.pid = pid
        self.requests = requests
        self.files = files
        self.spared = spared | {pid}
        self.status: int | None = None

    def call(self, request: Record, fds: Sequence[int]) -> None:
        """Have it fork a call; descriptors: the exchange, output and errors of the fork."""
        names = ("fn", "inline", "nonce", "limit", "with_arguments", "sizes")
        message = json.dumps({name: request[name] for name in names}).encode()
        self.status = None
        with contextlib.suppress(OSError):  # its end is noticed elsewhere
            socket.send_fds(self.requests, [message], fds)

    def watch(self, watch: Watch, exchange: ValueExchange) -> None:
        """Watch a call, which is done with a value, or with the end of its process."""

        def ended(_: int) -> bool:
            self._read_status()
            watch.finish()
            return False

        def advance(_: int) -> bool:
            if exchange.advance():
                watch.change(exchange.stream.fileno(), exchange.events)
                return True
            if exchange.facts is not None:
                watch.finish()
            return False

        watch.add(self.requests.fileno(), select.POLLIN, ended)
        watch.add(exchange.stream.fileno(), exchange.events, advance)

    def end_call(self, processes: list[int]) -> bool:
        """End the process of a call; return False if the loaded module has to go too."""
        if len(processes) > 1:
            return False  # what it has started may start more between two looks
        for pid in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if self.status is None:
            self.requests.settimeout(_REPORT_S)
            self._read_status()
            self.requests.settimeout(None)
        return self.status is not None and not test_run.processes(self.spared)

    def _read_status(self) -> None:
        # trust: the process may say anything; it knows best how its fork ended.
        with contextlib.suppress(OSError, ValueError):
            self.status = int(self.requests.recv(64))


def _files(facts: list[Record], parts: list[bytes]) -> dict[str, tuple[bytes, int]]:
    return {fact["path"]: (part, fact["mode"]) for fact, part in zip(facts, parts, strict=True)}


def _output(limits: RunLimits, *, ends: bool = True) -> tuple[Output, int]:
    read, write = os.pipe2(os.O_CLOEXEC)
    return Output(read, limits.output, ends=ends), write


def _read_report(fd: int) -> str:
    """Return what a child reported on its start, and close the descriptor."""
    os.set_blocking(fd, False)
    try:
        return os.read(fd, _MOST_REPORT).decode("utf-8", "replace")
    except BlockingIOError:
        return ""
    finally:
        os.close(fd)
