"""Machine on a server: its programs and files over websockets."""

import contextlib
import json
import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from llm_sandbox.backends.base import (
    Control,
    Ending,
    Exit,
    Isolation,
    KernelSpec,
    Machine,
    MachineSpec,
    ProcessSpec,
    RawKernel,
    RawProcess,
)
from llm_sandbox.exceptions import (
    ContainerGoneError,
    SandboxError,
    SandboxNotFoundError,
    UnsupportedError,
)
from llm_sandbox.limits import Limits
from llm_sandbox.remote.connection import ServerConnection

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

__all__ = ["RemoteMachine"]

_TERMINAL = "llm-sandbox.v1"
_FILES = "llm-sandbox.files.v1"
_PIECE = 1 << 18
_GONE = 137
_STREAMS = {1: "stdout", 2: "stderr"}


class RemoteMachine(Machine):
    """Machine of a session on a server.

    Args:
        server: Connection to the server.
        facts: What the server said about the new session.
        expires: Whether the client has set the time of its end; otherwise it lives for as long as
            this object does.
    """

    arranges_streams = True

    def __init__(
        self, server: ServerConnection, facts: Mapping[str, Any], *, expires: bool
    ) -> None:
        self.id = str(facts["id"])
        self.path = f"/v1/sessions/{self.id}"
        self.spec = MachineSpec(str(facts["workdir"]), Limits(**facts["limits"]))
        found = facts["isolation"]
        controls = {name: Control(**one) for name, one in found["controls"].items()}
        self.isolation = Isolation(found["backend"], found["level"], controls)
        self._server = server
        lifetime = float(facts["ends_at"]) - float(facts["started_at"])
        self._deadline = time.monotonic() + lifetime if expires else None
        self._end_reason: str | None = None
        self._has_ended = threading.Event()
        self._lock = threading.Lock()
        self._programs: dict[str, _Program] = {}
        if not expires:
            threading.Thread(
                target=self._keep_alive, args=(lifetime,), name="llm-sandbox remote", daemon=True
            ).start()

    def ask(self, method: str, rest: str, body: Mapping[str, Any] | None = None) -> Any:
        """Return the answer to a request for the session.

        Raises:
            ContainerGoneError: The session has ended.
            SandboxError: The server's error.
        """
        with self.calling():
            return self._server.ask(method, self.path + rest, body)

    @contextlib.contextmanager
    def calling(self) -> Iterator[ServerConnection]:
        """Yield the connection for a request, and note when the server has the session no more."""
        try:
            yield self._server
        except SandboxNotFoundError as error:
            reason = self._deadline is not None and time.monotonic() > self._deadline - 1.0
            self._end("deadline" if reason else "gone")
            raise ContainerGoneError(
                "the server has this session no more", backend=self.isolation.backend
            ) from error

    def _keep_alive(self, lifetime: float) -> None:
        """Use the session now and then, for as long as this process holds it."""
        while not self._has_ended.wait(lifetime / 3):
            with contextlib.suppress(SandboxError):
                self.ask("POST", "/timeout", {"seconds": lifetime})

    def _end(self, reason: str) -> None:
        with self._lock:
            self._end_reason = self._end_reason or reason
            programs = list(self._programs.values())
        self._has_ended.set()
        for program in programs:
            program.close()

    # --- programs

    def start(self, spec: ProcessSpec) -> RawProcess:
        if spec.stdout != "pipe" or spec.stderr != "pipe":
            raise UnsupportedError(
                "a target of output", "remote", "programs of a server have pipes or a terminal"
            )
        terminal = spec.terminal
        first = {
            "command": list(spec.argv),
            "env": dict(spec.env),
            "cwd": spec.cwd,
            "timeout": spec.timeout_s,
            "stdin": spec.stdin,
            "terminal": None
            if terminal is None
            else {"rows": terminal.rows, "cols": terminal.cols, "term": terminal.term},
        }
        with self.calling() as server:
            line = server.websocket(f"{self.path}/terminal", _TERMINAL)
            try:
                line.send(json.dumps(first))
                begun = json.loads(line.recv())
                if "error" in begun:
                    raise SandboxError.from_dict(begun["error"])
            except BaseException as error:
                line.close()
                if isinstance(error, OSError | EOFError):
                    raise server.lost(error) from error
                raise
        program = _Program(line, str(begun["id"]), terminal is not None)
        with self._lock:
            self._programs[program.id] = program
        return program.start(spec.stdin, self._forget)

    def _forget(self, program: "_Program") -> None:
        with self._lock:
            self._programs.pop(program.id, None)

    def _tell(self, process_id: str, **message: Any) -> bool:
        with self._lock:
            program = self._programs.get(process_id)
        return program is not None and program.tell(message)

    def signal(self, process_id: str, number: int) -> bool:
        return self._tell(process_id, type="signal", number=number)

    def resize(self, process_id: str, rows: int, cols: int) -> bool:
        return self._tell(process_id, type="resize", rows=rows, cols=cols)

    def kill(self, process_id: str, *, children_only: bool = False) -> bool:
        if children_only:
            raise UnsupportedError("kill(children_only=True)", "remote")
        return self._tell(process_id, type="kill")

    def sweep(self) -> None:
        return  # the server does

    def start_kernel(self, spec: KernelSpec) -> RawKernel:
        raise UnsupportedError(
            "lend_kernel()",
            "remote",
            "the interpreter is on the server",
            hint="Jupyter connects to a server by its kernel gateway",
        )

    # --- life

    @property
    def end_reason(self) -> str | None:
        deadline = self._deadline
        if self._end_reason is None and deadline is not None and time.monotonic() > deadline:
            self._end("deadline")
        return self._end_reason

    def set_deadline(self, seconds: float | None) -> None:
        if seconds is None:
            raise UnsupportedError("no timeout", "remote", "sessions of a server end some time")
        self.ask("POST", "/timeout", {"seconds": seconds})
        self._deadline = time.monotonic() + seconds

    def destroy(self) -> None:
        if self._end_reason is None:
            with contextlib.suppress(SandboxError):
                self._server.ask("DELETE", self.path)
        self._end("closed")
        self._server.close()

    # --- files and environment

    def open_files(self) -> socket.socket:
        if self.end_reason is not None:
            raise ContainerGoneError("the session has ended", backend=self.isolation.backend)
        with self.calling() as server:
            line = server.websocket(f"{self.path}/file-service", _FILES)
        near, far = socket.socketpair()
        for pump in (_pump_in, _pump_out):
            threading.Thread(
                target=pump, args=(far, line), name="llm-sandbox files", daemon=True
            ).start()
        return near

    def base_env(self) -> dict[str, str]:
        return {}  # the server adds its own

    def python(self) -> str:
        return ""

    def language_folder(self, language: str) -> str:
        raise UnsupportedError("the files of a language", "remote", "they are on the server")


def _pump_out(far: socket.socket, line: "ClientConnection") -> None:
    """Send what this side writes, until it closes the connection."""
    from websockets.exceptions import ConnectionClosed

    with contextlib.suppress(OSError, ConnectionClosed):
        while data := far.recv(_PIECE):
            line.send(data)
    line.close()


def _pump_in(far: socket.socket, line: "ClientConnection") -> None:
    """Hand on what the service sends, until it ends."""
    from websockets.exceptions import ConnectionClosed

    with contextlib.suppress(OSError, ConnectionClosed):
        for data in line:
            # trust: bytes from inside, which the file service's client checks.
            far.sendall(data if isinstance(data, bytes) else data.encode())
    with contextlib.suppress(OSError):
        far.shutdown(socket.SHUT_RDWR)
    far.close()


class _Program:
    """Program on the server, whose streams are pipes here."""

    def __init__(self, line: "ClientConnection", program_id: str, has_terminal: bool) -> None:
        self.id = program_id
        self._line = line
        self._has_terminal = has_terminal
        self._ending = Ending()

    def start(self, has_stdin: bool, forget: Any) -> RawProcess:
        """Start the threads that carry the streams."""
        pipes = {name: os.pipe() for name in ("stdout", "stderr")}
        stdin = os.pipe() if has_stdin else None
        ends = {name: pipe[1] for name, pipe in pipes.items()}
        self._run(self._receive, ends, forget)
        if stdin is not None:
            self._run(self._feed, stdin[0])
        return RawProcess(
            self.id,
            None if stdin is None else stdin[1],
            pipes["stdout"][0],
            pipes["stderr"][0],
            self._ending,
            self._has_terminal,
        )

    @staticmethod
    def _run(target: Any, *args: Any) -> None:
        threading.Thread(target=target, args=args, name="llm-sandbox remote", daemon=True).start()

    def _receive(self, ends: Mapping[str, int], forget: Any) -> None:
        from websockets.exceptions import ConnectionClosed

        ended = Exit(_GONE)
        with contextlib.suppress(OSError, ConnectionClosed):
            for message in self._line:
                if isinstance(message, bytes):
                    _write(ends[_STREAMS[message[0]]], message[1:])
                    continue
                facts = json.loads(message)
                if facts.pop("type") == "exit":
                    facts.pop("dropped_bytes", None)
                    ended = Exit(**facts)
        for end in ends.values():
            os.close(end)
        self._ending.set(ended)
        forget(self)
        self._line.close()

    def _feed(self, end: int) -> None:
        with contextlib.suppress(Exception), os.fdopen(end, "rb", buffering=0) as file:
            while data := file.read(_PIECE):
                self._line.send(data)
            self.tell({"type": "eof"})

    def tell(self, message: Mapping[str, Any]) -> bool:
        """Send a message; return False if the program has ended."""
        from websockets.exceptions import ConnectionClosed

        if self._ending.get() is not None:
            return False
        try:
            self._line.send(json.dumps(message))
        except (OSError, ConnectionClosed):
            return False
        return True

    def close(self) -> None:
        """Close the connection, with which the program ends."""
        self._line.close()


def _write(end: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(end, view) :]
