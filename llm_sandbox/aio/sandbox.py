"""Awaitable twin of a sandbox."""

import builtins
import contextlib
import copy
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self, Unpack

from anyio.lowlevel import checkpoint

from llm_sandbox.aio.files import AsyncFiles
from llm_sandbox.aio.process import AsyncProcess
from llm_sandbox.aio.threads import SLICE_S, Call, in_thread, in_thread_quickly, to_the_end
from llm_sandbox.backends.base import Isolation, Machine
from llm_sandbox.backends.snapshot import Snapshot, SnapshotKind
from llm_sandbox.backends.terminals import Terminal
from llm_sandbox.create import same_parameters
from llm_sandbox.data import ProcessResult
from llm_sandbox.exceptions import SandboxTimeoutError
from llm_sandbox.limits import LimitOptions, Limits, validate_timeout
from llm_sandbox.network import Network, NetworkEvent
from llm_sandbox.sandbox.creation import SandboxOptions
from llm_sandbox.sandbox.process import Pipe, Process
from llm_sandbox.sandbox.readiness import wait_until
from llm_sandbox.sandbox.redirect import ErrorTarget, OutputTarget
from llm_sandbox.sandbox.sandbox import Sandbox
from llm_sandbox.sandbox.tls_tunnel import TlsPort
from llm_sandbox.sandbox.tunnels import Tunnel
from llm_sandbox.secrets.plan import SecretPlan
from llm_sandbox.secrets.secret import Secret

__all__ = ["AsyncSandbox", "Commands"]


class Commands:
    """Programs started by one call, which are killed when it is cancelled."""

    def __init__(self) -> None:
        self._started: list[Process] = []
        self._ended = False

    @property
    def ended(self) -> bool:
        """Whether the programs were killed."""
        return self._ended

    def watch(self, sandbox: Sandbox) -> Sandbox:
        """Return a view of the sandbox that records the programs of this call."""
        watched = copy.copy(sandbox)
        watched.exec = self._noting(sandbox)  # type: ignore[method-assign]
        return watched

    def _noting(self, sandbox: Sandbox) -> Any:
        def start(*argv: str, **options: Any) -> Process:
            process = sandbox.exec(*argv, **options)
            self._started.append(process)
            if self._ended:
                process.kill()
            return process

        return start

    def end(self, call: Call[Any]) -> None:
        """Kill the programs, and any that the call starts later."""
        del call
        self._ended = True
        for process in self._started:
            process.kill()


class AsyncSandbox:
    """Isolated machine for programs; see `Sandbox`. Created by `AsyncSandbox.create`.

    As an async context manager it ends, or detaches, like its twin.

    Args:
        sandbox: Synchronous twin.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    @classmethod
    @same_parameters(Sandbox.create)
    async def create(cls, *command: str, **options: Unpack[SandboxOptions]) -> Self:
        """Create a sandbox; see `Sandbox.create`. Cancellation leaves none."""
        made = await in_thread(lambda _: Sandbox.create(*command, **options), undo=Sandbox.destroy)
        return cls(made)

    @classmethod
    async def from_machine(
        cls,
        machine: Machine,
        env: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | Sequence[Secret] | SecretPlan | None = None,
        *,
        network: Network = "blocked",
        ports: Sequence[int | TlsPort] = (),
    ) -> Self:
        """Create a sandbox from a machine, which it then owns; arguments as in `create`."""
        made = await in_thread(
            lambda _: Sandbox.from_machine(machine, env, secrets, network=network, ports=ports),
            undo=Sandbox.destroy,
        )
        return cls(made)

    @classmethod
    async def attach(cls, id: str) -> Self:
        """Return a handle of a living sandbox that has a daemon; see `Sandbox.attach`."""
        return cls(await in_thread_quickly(Sandbox.attach, id))

    @classmethod
    async def from_name(cls, name: str, namespace: str = "default") -> Self:
        """Return a handle of a living sandbox by name, like `attach`."""
        return cls(await in_thread_quickly(Sandbox.from_name, name, namespace))

    @classmethod
    async def list(
        cls, tags: Mapping[str, str] | None = None, namespace: str | None = None
    ) -> builtins.list[Self]:
        """Return handles of the living sandboxes of this user; see `Sandbox.list`."""
        return [cls(one) for one in await in_thread_quickly(Sandbox.list, tags, namespace)]

    @classmethod
    async def gc(cls) -> builtins.list[str]:
        """Remove remains of sandboxes whose daemon was killed; see `Sandbox.gc`."""
        return await in_thread_quickly(Sandbox.gc)

    async def update_limits(self, **limits: Unpack[LimitOptions]) -> Limits:
        """Change the limits of the sandbox; see `Sandbox.update_limits`."""
        return await in_thread(lambda _: self._sandbox.update_limits(**limits))

    async def update_env(self, env: Mapping[str, str]) -> None:
        """Add environment variables for programs started from now on."""
        await checkpoint()
        self._sandbox.update_env(env)

    # --- facts

    @property
    def id(self) -> str:
        """Unique id."""
        return self._sandbox.id

    @property
    def name(self) -> str | None:
        """Name; None without one."""
        return self._sandbox.name

    @property
    def namespace(self) -> str:
        """Namespace of the name; ``default`` unless given."""
        return self._sandbox.namespace

    @property
    def tags(self) -> Mapping[str, str]:
        """Tags, as last known to this handle."""
        return self._sandbox.tags

    @property
    def backend(self) -> str:
        """Name of the backend."""
        return self._sandbox.backend

    @property
    def isolation(self) -> Isolation:
        """Isolation, by resource."""
        return self._sandbox.isolation

    @property
    def limits(self) -> Limits:
        """Limits of the sandbox."""
        return self._sandbox.limits

    @property
    def workdir(self) -> str:
        """Working directory of programs."""
        return self._sandbox.workdir

    @property
    def files(self) -> AsyncFiles:
        """Files of the sandbox."""
        return AsyncFiles(self._sandbox.files)

    def __repr__(self) -> str:
        return f"<Async{repr(self._sandbox).removeprefix('<')}"

    # --- programs

    async def exec(
        self,
        *argv: str,
        env: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | Sequence[Secret] | None = None,
        cwd: str | None = None,
        stdin: bytes | str | Pipe | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - as its twin
        user: str | int | None = None,
        pty: bool | Terminal = False,
        stdout: OutputTarget = "pipe",
        stderr: ErrorTarget = "pipe",
    ) -> AsyncProcess:
        """Start a program; see `Sandbox.exec`. Cancellation leaves none running."""
        process = await in_thread(
            lambda _: self._sandbox.exec(
                *argv,
                env=env,
                secrets=secrets,
                cwd=cwd,
                stdin=stdin,
                timeout=timeout,
                user=user,
                pty=pty,
                stdout=stdout,
                stderr=stderr,
            ),
            undo=Process.kill,
        )
        return AsyncProcess(process)

    async def sh(self, text: str, **options: Any) -> AsyncProcess:
        """Start a shell with a command line; options as in `exec`."""
        process = await in_thread(lambda _: self._sandbox.sh(text, **options), undo=Process.kill)
        return AsyncProcess(process)

    async def check(self, *argv: str, **options: Any) -> ProcessResult:
        """Run a program to its end and return its `ProcessResult`; see `Sandbox.check`.

        Cancellation kills the program.
        """
        commands = Commands()
        return await in_thread(
            lambda _: commands.watch(self._sandbox).check(*argv, **options), stop=commands.end
        )

    @property
    def entry(self) -> AsyncProcess | None:
        """Main program, with which the sandbox ends; None without one."""
        found = self._sandbox.entry
        return None if found is None else AsyncProcess(found)

    async def processes(self) -> builtins.list[AsyncProcess]:
        """Return the running programs, oldest first; see `Sandbox.processes`."""
        return [AsyncProcess(one) for one in await in_thread_quickly(self._sandbox.processes)]

    async def process(self, process_id: str) -> AsyncProcess:
        """Return a program by its id, with all its output; see `Sandbox.process`."""
        return AsyncProcess(await in_thread_quickly(self._sandbox.process, process_id))

    # --- network

    @property
    def network(self) -> Network:
        """Network of the sandbox, as last set."""
        return self._sandbox.network

    async def set_network(self, network: Network) -> int:
        """Change the network of the sandbox; see `Sandbox.set_network`."""
        return await in_thread_quickly(self._sandbox.set_network, network)

    async def network_events(self, after: int = 0) -> tuple[NetworkEvent, ...]:
        """Return blocked and failed connection attempts; see `Sandbox.network_events`."""
        return await in_thread_quickly(self._sandbox.network_events, after)

    async def tunnels(self) -> Mapping[int, Tunnel]:
        """Return the tunnels to ports of the sandbox; see `Sandbox.tunnels`."""
        await checkpoint()
        return self._sandbox.tunnels()

    # --- life

    async def poll(self) -> int | None:
        """Return None while the sandbox lives; then its exit code. See `Sandbox.poll`."""
        await checkpoint()
        return self._sandbox.poll()

    @property
    def returncode(self) -> int | None:
        """Exit code, as returned by `poll`."""
        return self._sandbox.returncode

    @property
    def end_reason(self) -> str | None:
        """Reason for the end; None while the sandbox lives. See `Sandbox.end_reason`."""
        return self._sandbox.end_reason

    async def wait(self, timeout: float | None = None) -> int:  # noqa: ASYNC109 - as its twin
        """Wait until the sandbox has ended; see `Sandbox.wait`."""

        def work(call: Call[int]) -> int:
            if validate_timeout(timeout) is not None:
                return self._sandbox.wait(timeout)
            while self._sandbox.poll() is None:
                call.check()
                with contextlib.suppress(SandboxTimeoutError):
                    self._sandbox.wait(SLICE_S)
            return self._sandbox.wait()

        return await in_thread(work)

    async def wait_until_ready(
        self,
        timeout: float | None = 60.0,  # noqa: ASYNC109 - as its twin
    ) -> None:
        """Wait until the sandbox is ready; see `Sandbox.wait_until_ready`."""
        sandbox = self._sandbox
        await in_thread(lambda call: wait_until(sandbox, sandbox._ready, timeout, call.check))

    async def set_timeout(self, seconds: float | None) -> None:
        """Set the end to `seconds` from now; None for never."""
        await in_thread_quickly(self._sandbox.set_timeout, seconds)

    async def set_tags(self, tags: Mapping[str, str]) -> None:
        """Replace all tags; see `Sandbox.set_tags`."""
        await in_thread_quickly(self._sandbox.set_tags, tags)

    async def snapshot(
        self,
        name: str | None = None,
        *,
        kind: SnapshotKind = "filesystem",
        path: str | None = None,
        ttl: float | None = None,
    ) -> Snapshot:
        """Save the sandbox's files; see `Sandbox.snapshot`. Cancellation deletes the snapshot."""
        return await in_thread(
            lambda _: self._sandbox.snapshot(name, kind=kind, path=path, ttl=ttl),
            undo=Snapshot.delete,
        )

    async def terminate(self) -> None:
        """Terminate the sandbox, even if the call is cancelled; see `Sandbox.terminate`."""
        await to_the_end(self._sandbox.terminate)

    async def detach(self) -> None:
        """Detach from the sandbox, which lives on; see `Sandbox.detach`."""
        await in_thread_quickly(self._sandbox.detach)

    async def destroy(self) -> None:
        """Destroy the sandbox, even if the call is cancelled; may be called twice."""
        await to_the_end(self._sandbox.destroy)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        # As its twin decides: an attached or kept sandbox is detached from.
        await to_the_end(lambda: self._sandbox.__exit__(exc_type, exc_val, exc_tb))
