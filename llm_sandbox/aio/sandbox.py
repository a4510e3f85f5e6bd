"""The awaitable twin of a sandbox."""

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
from llm_sandbox.backends.base import Backend, Isolation, Machine
from llm_sandbox.backends.snapshot import Snapshot, SnapshotKind
from llm_sandbox.backends.terminals import Terminal
from llm_sandbox.data import ProcessResult
from llm_sandbox.exceptions import SandboxTimeoutError
from llm_sandbox.limits import LimitOptions, Limits, validate_timeout
from llm_sandbox.mounts import Mount
from llm_sandbox.network import Network, NetworkEvent
from llm_sandbox.sandbox.detached.record import OnExit
from llm_sandbox.sandbox.process import Pipe, Process
from llm_sandbox.sandbox.readiness import Readiness, wait_until
from llm_sandbox.sandbox.redirect import ErrorTarget, OutputTarget
from llm_sandbox.sandbox.sandbox import Sandbox
from llm_sandbox.sandbox.tls_tunnel import TlsPort
from llm_sandbox.sandbox.tunnels import Tunnel
from llm_sandbox.secrets.plan import SecretPlan
from llm_sandbox.secrets.secret import Secret

__all__ = ["AsyncSandbox", "Commands"]


class Commands:
    """The programs that one call starts, so that they end with it when it is cancelled."""

    def __init__(self) -> None:
        self._started: list[Process] = []
        self._ended = False

    @property
    def ended(self) -> bool:
        """Whether they were told to end."""
        return self._ended

    def watch(self, sandbox: Sandbox) -> Sandbox:
        """Return the same sandbox for this call, which notes what it starts."""
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
        """Kill them, and whatever the call starts from now on."""
        del call
        self._ended = True
        for process in self._started:
            process.kill()


class AsyncSandbox:
    """A machine for programs; see `Sandbox`. Made by `AsyncSandbox.create`.

    As an async context manager it ends, or is let go of, as its twin.

    Args:
        sandbox: The sandbox whose twin this is.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    @classmethod
    async def create(
        cls,
        *command: str,
        backend: str | Backend | None = None,
        image: str | Snapshot | None = None,
        writable_root: bool = False,
        workdir: str = "/sandbox",
        env: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | Sequence[Secret] | None = None,
        limits: Limits | LimitOptions | None = None,
        network: Network = "blocked",
        ports: Sequence[int | TlsPort] = (),
        mounts: Mapping[str, Mount] | None = None,
        gpu: str | int | None = None,
        ready: Readiness | None = None,
        pty: bool | Terminal = False,
        timeout: float | None = None,  # noqa: ASYNC109 - as its twin
        idle_timeout: float | None = None,
        name: str | None = None,
        namespace: str = "default",
        tags: Mapping[str, str] | None = None,
        on_exit: OnExit = "destroy",
    ) -> Self:
        """Make a sandbox; see `Sandbox.create`. Cancelled, it leaves none."""
        made = await in_thread(
            lambda _: Sandbox.create(
                *command,
                backend=backend,
                image=image,
                writable_root=writable_root,
                workdir=workdir,
                env=env,
                secrets=secrets,
                limits=limits,
                network=network,
                ports=ports,
                mounts=mounts,
                gpu=gpu,
                ready=ready,
                pty=pty,
                timeout=timeout,
                idle_timeout=idle_timeout,
                name=name,
                namespace=namespace,
                tags=tags,
                on_exit=on_exit,
            ),
            undo=Sandbox.destroy,
        )
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
        """Make a sandbox of a machine, which it owns from then on; arguments as in `create`."""
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
        """Return a handle of the living sandbox that has a name; as `attach`."""
        return cls(await in_thread_quickly(Sandbox.from_name, name, namespace))

    @classmethod
    async def list(
        cls, tags: Mapping[str, str] | None = None, namespace: str | None = None
    ) -> builtins.list[Self]:
        """Return handles of the living sandboxes of this user; see `Sandbox.list`."""
        return [cls(one) for one in await in_thread_quickly(Sandbox.list, tags, namespace)]

    @classmethod
    async def gc(cls) -> builtins.list[str]:
        """Remove what sandboxes have left whose daemon was killed; see `Sandbox.gc`."""
        return await in_thread_quickly(Sandbox.gc)

    async def update_limits(self, **limits: Unpack[LimitOptions]) -> Limits:
        """Hold it to other limits from now on; see `Sandbox.update_limits`."""
        return await in_thread(lambda _: self._sandbox.update_limits(**limits))

    async def update_env(self, env: Mapping[str, str]) -> None:
        """Add environment variables for programs that are started from now on."""
        await checkpoint()
        self._sandbox.update_env(env)

    # --- facts

    @property
    def id(self) -> str:
        """Its name, one of its kind."""
        return self._sandbox.id

    @property
    def name(self) -> str | None:
        """The name that it was given; None without one."""
        return self._sandbox.name

    @property
    def namespace(self) -> str:
        """Where its name is the only one of its kind; ``default`` unless another was given."""
        return self._sandbox.namespace

    @property
    def tags(self) -> Mapping[str, str]:
        """Its tags, as this handle last heard of them."""
        return self._sandbox.tags

    @property
    def backend(self) -> str:
        """Name of the backend it lives in."""
        return self._sandbox.backend

    @property
    def isolation(self) -> Isolation:
        """What holds it, resource by resource."""
        return self._sandbox.isolation

    @property
    def limits(self) -> Limits:
        """What it may use."""
        return self._sandbox.limits

    @property
    def workdir(self) -> str:
        """Its working directory, as its programs see it."""
        return self._sandbox.workdir

    @property
    def files(self) -> AsyncFiles:
        """Its files."""
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
        """Start a program; see `Sandbox.exec`. Cancelled, it leaves none running."""
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

        Cancelled, it kills the program.
        """
        commands = Commands()
        return await in_thread(
            lambda _: commands.watch(self._sandbox).check(*argv, **options), stop=commands.end
        )

    @property
    def entry(self) -> AsyncProcess | None:
        """The program that the sandbox was created for, which it ends with; None without one."""
        found = self._sandbox.entry
        return None if found is None else AsyncProcess(found)

    async def processes(self) -> builtins.list[AsyncProcess]:
        """The programs that run, oldest first; see `Sandbox.processes`."""
        return [AsyncProcess(one) for one in await in_thread_quickly(self._sandbox.processes)]

    async def process(self, process_id: str) -> AsyncProcess:
        """Return a program by its id, with all its output; see `Sandbox.process`."""
        return AsyncProcess(await in_thread_quickly(self._sandbox.process, process_id))

    # --- network

    @property
    def network(self) -> Network:
        """What it may reach, as was asked for last."""
        return self._sandbox.network

    async def set_network(self, network: Network) -> int:
        """Change what its programs may reach, at once; see `Sandbox.set_network`."""
        return await in_thread_quickly(self._sandbox.set_network, network)

    async def network_events(self, after: int = 0) -> tuple[NetworkEvent, ...]:
        """What its programs tried to reach in vain; see `Sandbox.network_events`."""
        return await in_thread_quickly(self._sandbox.network_events, after)

    async def tunnels(self) -> Mapping[int, Tunnel]:
        """Where its ports are reached from this machine; see `Sandbox.tunnels`."""
        await checkpoint()
        return self._sandbox.tunnels()

    # --- life

    async def poll(self) -> int | None:
        """None while it lives; then its exit code. See `Sandbox.poll`."""
        await checkpoint()
        return self._sandbox.poll()

    @property
    def returncode(self) -> int | None:
        """As `poll`."""
        return self._sandbox.returncode

    @property
    def end_reason(self) -> str | None:
        """Why it has ended; None while it lives. See `Sandbox.end_reason`."""
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
        """Wait until it is ready; see `Sandbox.wait_until_ready`."""
        sandbox = self._sandbox
        await in_thread(lambda call: wait_until(sandbox, sandbox._ready, timeout, call.check))

    async def set_timeout(self, seconds: float | None) -> None:
        """Have it end `seconds` from now, whatever was said before; None for never."""
        await in_thread_quickly(self._sandbox.set_timeout, seconds)

    async def set_tags(self, tags: Mapping[str, str]) -> None:
        """Replace all its tags; see `Sandbox.set_tags`."""
        await in_thread_quickly(self._sandbox.set_tags, tags)

    async def snapshot(
        self,
        name: str | None = None,
        *,
        kind: SnapshotKind = "filesystem",
        path: str | None = None,
        ttl: float | None = None,
    ) -> Snapshot:
        """Save the sandbox's files; see `Sandbox.snapshot`. Cancelled, it deletes the snapshot."""
        return await in_thread(
            lambda _: self._sandbox.snapshot(name, kind=kind, path=path, ttl=ttl),
            undo=Snapshot.delete,
        )

    async def terminate(self) -> None:
        """End it with everything in it, even if the call is cancelled; see `Sandbox.terminate`."""
        await to_the_end(self._sandbox.terminate)

    async def detach(self) -> None:
        """Let go of the sandbox, which lives on; see `Sandbox.detach`."""
        await in_thread_quickly(self._sandbox.detach)

    async def destroy(self) -> None:
        """End it with everything in it, even if the call is cancelled; may be called twice."""
        await to_the_end(self._sandbox.destroy)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        # As its twin decides: what was attached to, or is to be kept, is let go of.
        await to_the_end(lambda: self._sandbox.__exit__(exc_type, exc_val, exc_tb))
