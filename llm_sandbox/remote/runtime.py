"""Runtime of a session on a server: the interpreter's calls as requests."""

import base64
import contextlib
import select
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, cast

from llm_sandbox.backends.base import Backend, Isolation, Machine, MachineSpec, Network
from llm_sandbox.const import StateOutcome
from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import SandboxError, TransportError, UnsupportedError
from llm_sandbox.host.wake import Wake
from llm_sandbox.kernel.background import Background
from llm_sandbox.kernel.output_buffer import OutputCallback
from llm_sandbox.kernel.stop import Stop
from llm_sandbox.language_handlers.base import AbstractLanguageHandler
from llm_sandbox.limits import Deadline, Limits
from llm_sandbox.network import NetworkRules
from llm_sandbox.remote.connection import ServerConnection
from llm_sandbox.remote.machine import RemoteMachine
from llm_sandbox.results import outputs
from llm_sandbox.results.outputs import BackgroundOutput
from llm_sandbox.sandbox import Sandbox
from llm_sandbox.session.config import SessionConfig
from llm_sandbox.session.kernel_process import KernelHandle, check_alive
from llm_sandbox.session.kernel_session import KernelSession
from llm_sandbox.session.runtime import SessionRuntime
from llm_sandbox.session.workdir_changes import RemoteFile

__all__ = ["RemoteBackend", "RemoteRuntime"]

_HERE = frozenset(
    {
        "busy",
        "encoding_errors",
        "libraries",
        "observers",
        "security_policy",
        "server",
        "skip_environment_setup",
        "stream",
        "token",
        "verbose",
    }
)
"""Options that this process honours; all others are sent, and the server refuses what it will."""


class RemoteBackend(Backend):
    """Backend whose machines are made by a server, with their sessions.

    Args:
        url: Address of the server.
        token: API key; None where the server has none.
        options: Options of the session other than the defaults, by the names of `create_session`.

    Raises:
        UnsupportedError: An option cannot be sent.
        ValidationError: The address or the key is invalid.
    """

    name = "remote"

    def __init__(self, url: str, token: str | None, options: Mapping[str, Any]) -> None:
        self.server = ServerConnection(url, token)
        self.body = {
            name: _sent(name, value) for name, value in options.items() if name not in _HERE
        }
        """Body of the request for a session: its options."""

    def check(self) -> Isolation:
        raise UnsupportedError("check()", self.name, "the server tells of a session's isolation")

    def create(self, spec: MachineSpec) -> Machine:
        raise UnsupportedError("create()", self.name, "the server makes sessions")

    def warm_up(self, network: Network = "blocked") -> None:
        return  # the server does

    def wait_until_warm(self, network: Network = "blocked", timeout_s: float = 60.0) -> bool:
        return True


def _sent(name: str, value: Any) -> Any:
    """Return the value of an option as JSON."""
    if isinstance(value, Limits):
        usual = Limits()
        changed = {item.name: getattr(value, item.name) for item in fields(value)}
        return {key: one for key, one in changed.items() if one != getattr(usual, key)}
    if isinstance(value, NetworkRules):
        rules = value.to_dict()
        return {**rules, "hosts": list(value.hosts)}
    if isinstance(value, Mapping):
        return {str(key): _sent(name, one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_sent(name, one) for one in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise UnsupportedError(
        f"{name} of type {type(value).__name__}",
        "remote",
        "it belongs to this process, and cannot be sent to the server",
    )


class _RemoteKernel:
    """Interpreter of a session on a server; the part of `KernelSession` that a session calls."""

    def __init__(
        self,
        machine: RemoteMachine,
        sandbox: Sandbox,
        config: SessionConfig,
        background: Background,
    ) -> None:
        self.machine = machine
        self._sandbox = sandbox
        self._config = config
        self._background = background

    @property
    def is_alive(self) -> bool:
        """True until the session has ended, as far as is known."""
        return self.machine.end_reason is None

    @contextlib.contextmanager
    def _alive(self) -> Iterator[None]:
        """Refuse a call of a session that has ended, before and after."""
        check_alive(self.machine, self._config.session_timeout)
        try:
            yield
        except SandboxError:
            check_alive(self.machine, self._config.session_timeout)
            raise

    def run(
        self,
        code: str,
        deadline: Deadline,
        stdin: Iterator[str] | None,
        on_output: OutputCallback | None,
        stop: Stop | None = None,
        argv: Sequence[str] = (),
    ) -> ExecutionResult:
        """Run code and return its result; see `KernelSession.run`."""
        body: dict[str, Any] = {"code": code, "argv": list(argv), "interactive": stdin is not None}
        left = deadline.remaining()
        if left is not None:
            body["timeout"] = max(left, 0.001)
        self._background.begin_run()
        run = _Run(self.machine, body, stdin, on_output)
        with self._alive(), _interrupting(self.machine, stop):
            result = run.result()
        if result.state is StateOutcome.LOST:
            # The session may have ended with it.
            with contextlib.suppress(SandboxError):
                self.machine.ask("GET", "")
        found = replace(result, artifacts=tuple(map(self._reachable, result.artifacts)))
        if run.callback_error is not None:
            run.callback_error.add_note(
                f"raised by a callback of run(); the code itself ended as {found!r}"
            )
            raise run.callback_error
        return found

    def _reachable(self, artifact: Any) -> Any:
        """Return an artifact that downloads its content on demand if that was not sent."""
        is_file = artifact.paths and not artifact.mime.startswith("inode/")
        if artifact.content is not None or not is_file:
            return artifact
        return artifact.brought_by(
            RemoteFile(self._sandbox, artifact.paths[0], artifact.size, None)
        )

    def restart(self) -> None:
        """Start a fresh interpreter."""
        with self._alive():
            self.machine.ask("POST", "/restart", {})

    def lend(self) -> KernelHandle:
        """Refuse to hand the interpreter over."""
        raise UnsupportedError(
            "lend_kernel()",
            "remote",
            "the interpreter is on the server",
            hint="Jupyter connects to a server by its kernel gateway",
        )

    def call(
        self,
        service: str,
        arguments: dict[str, Any],
        buffers: Sequence[bytes] = (),
        *,
        deadline: Deadline,
        stop: Stop | None = None,
    ) -> tuple[dict[str, Any], list[memoryview]]:
        """Call a service of the interpreter; see `KernelSession.call`."""
        del deadline  # the server has the same
        sent = [base64.b64encode(one).decode() for one in buffers]
        body = {"service": service, "arguments": arguments, "buffers": sent}
        with self._alive(), _interrupting(self.machine, stop):
            answer = self.machine.ask("POST", "/call", body)
        return answer["content"], [memoryview(base64.b64decode(one)) for one in answer["buffers"]]

    def receive_background(self) -> None:
        """Receive all that runs have written since they ended."""
        with self._alive():
            for one in self.machine.ask("POST", "/background", {}):
                output = outputs.from_dict(one["output"])
                self._background.add(
                    BackgroundOutput(one["run"], output, one["time"], one["dropped_bytes"])
                )

    def update_limits(self, limits: Limits) -> None:
        """Adopt the limits that the machine has now."""
        self._config = replace(self._config, limits=limits)

    def close(self) -> None:
        """Do nothing: the interpreter ends with the machine."""


class _Run:
    """One run: its result from the answer, or from the last of its events."""

    def __init__(
        self,
        machine: RemoteMachine,
        body: Mapping[str, Any],
        stdin: Iterator[str] | None,
        on_output: OutputCallback | None,
    ) -> None:
        self._machine = machine
        self._body = body
        self._stdin = stdin
        self._on_output = on_output
        self.callback_error: Exception | None = None

    def result(self) -> ExecutionResult:
        """Run the code to its end."""
        if self._stdin is None and self._on_output is None:
            return ExecutionResult.from_dict(self._machine.ask("POST", "/run", self._body))
        path = f"{self._machine.path}/run"
        with self._machine.calling() as server, server.events(path, self._body) as events:
            for name, facts in events:
                if name == "output":
                    self._hand_on(facts)
                elif name == "input":
                    self._answer()
                elif name == "error":
                    raise SandboxError.from_dict(facts)
                elif name == "result":
                    return ExecutionResult.from_dict(facts)
        raise TransportError("the server sent no result")

    def _hand_on(self, facts: Mapping[str, Any]) -> None:
        if self._on_output is None or self.callback_error is not None:
            return
        try:
            self._on_output(outputs.from_dict(facts))
        except Exception as error:  # noqa: BLE001 - raised after the run
            self.callback_error = error

    def _answer(self) -> None:
        assert self._stdin is not None  # noqa: S101 - the server asks only then
        self._machine.ask("POST", "/input", {"text": next(self._stdin, None)})


@contextlib.contextmanager
def _interrupting(machine: RemoteMachine, stop: Stop | None) -> Iterator[None]:
    """Interrupt what runs on the server during a block when that is asked for here."""
    if stop is None:
        yield
        return
    over = Wake()

    def watch() -> None:
        ready, _, _ = select.select([stop.fileno(), over.fileno()], [], [])
        if stop.fileno() in ready:
            with contextlib.suppress(SandboxError):
                machine.ask("POST", "/interrupt", {})

    thread = threading.Thread(target=watch, name="llm-sandbox interrupt", daemon=True)
    thread.start()
    try:
        yield
    except BaseException as error:
        # Whatever ends the wait, such as Ctrl-C, ends the code.
        if not isinstance(error, SandboxError):
            with contextlib.suppress(SandboxError):
                machine.ask("POST", "/interrupt", {})
        raise
    finally:
        over.set()
        thread.join()
        over.close()


@dataclass
class RemoteRuntime(SessionRuntime):
    """Sandbox and interpreter of an open session on a server."""

    @classmethod
    def start(
        cls,
        config: SessionConfig,
        backend: Backend,
        handler: AbstractLanguageHandler,
        background: Background,
        detach_options: Any = None,
    ) -> SessionRuntime:
        """Create the session on the server.

        Raises:
            BackendUnavailableError: No server answers.
            SandboxError: The server's error; `UnsupportedError` for an option that it refuses.
        """
        del detach_options
        remote = cast(RemoteBackend, backend)
        try:
            facts = remote.server.ask("POST", "/v1/sessions", remote.body)
        except BaseException:
            remote.server.close()
            raise
        machine = RemoteMachine(remote.server, facts, expires=config.session_timeout is not None)
        sandbox = Sandbox(machine)
        kernel = cast(KernelSession, _RemoteKernel(machine, sandbox, config, background))
        return cls(backend, handler, sandbox, kernel, background)

    def install(self, specs: Sequence[str]) -> None:
        """Install libraries on the server."""
        cast(RemoteMachine, self.sandbox._machine).ask(
            "POST", "/install", {"libraries": list(specs)}
        )

    def commit(self) -> str | None:
        """Save nothing: a server saves no images for clients."""
        return None
