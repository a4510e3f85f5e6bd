"""The awaitable twin of a sandbox."""

import copy
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from anyio.lowlevel import checkpoint

from llm_sandbox.aio.files import AsyncFiles
from llm_sandbox.aio.process import AsyncProcess
from llm_sandbox.aio.threads import Call, in_thread, in_thread_quickly, to_the_end
from llm_sandbox.backends.base import Backend, Isolation, Machine, Network
from llm_sandbox.backends.snapshot import Snapshot
from llm_sandbox.data import ProcessResult
from llm_sandbox.limits import Limits
from llm_sandbox.sandbox.process import Pipe, Process
from llm_sandbox.sandbox.sandbox import Sandbox

__all__ = ["AsyncSandbox", "Commands"]


class Commands:
    """The programs that one call starts, so that they end with it when it is cancelled."""

    def __init__(self) -> None:
        self._started: list[Process] = []
        self._ended = False

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

    As an async context manager it is destroyed at the block's end.

    Args:
        sandbox: The sandbox whose twin this is.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    @classmethod
    async def create(
        cls,
        *,
        backend: str | Backend | None = None,
        image: str | Snapshot | None = None,
        workdir: str = "/sandbox",
        env: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        network: Network = "blocked",
        timeout: float | None = None,  # noqa: ASYNC109 - as its twin
    ) -> Self:
        """Make a sandbox; see `Sandbox.create`. Cancelled, it leaves none."""
        made = await in_thread(
            lambda _: Sandbox.create(
                backend=backend,
                image=image,
                workdir=workdir,
                env=env,
                secrets=secrets,
                limits=limits,
                network=network,
                timeout=timeout,
            ),
            undo=Sandbox.destroy,
        )
        return cls(made)

    @classmethod
    async def from_machine(cls, machine: Machine, env: Mapping[str, str] | None = None) -> Self:
        """Make a sandbox of a machine, which it owns from then on."""
        await checkpoint()
        return cls(Sandbox.from_machine(machine, env))

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
        cwd: str | None = None,
        stdin: bytes | str | Pipe | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - as its twin
        user: str | int | None = None,
    ) -> AsyncProcess:
        """Start a program; see `Sandbox.exec`. Cancelled, it leaves none running."""
        process = await in_thread(
            lambda _: self._sandbox.exec(
                *argv, env=env, cwd=cwd, stdin=stdin, timeout=timeout, user=user
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

    # --- life

    async def poll(self) -> int | None:
        """None while it lives, 124 after its timeout, 137 after any other end."""
        await checkpoint()
        return self._sandbox.poll()

    @property
    def end_reason(self) -> str | None:
        """Why it has ended: ``closed``, ``deadline``, ``gone``; None while it lives."""
        return self._sandbox.end_reason

    async def set_timeout(self, seconds: float | None) -> None:
        """Have it end `seconds` from now, whatever was said before; None for never."""
        await in_thread_quickly(self._sandbox.set_timeout, seconds)

    async def snapshot(self, name: str | None = None) -> Snapshot:
        """Save the sandbox's files; see `Sandbox.snapshot`."""
        return await in_thread(lambda _: self._sandbox.snapshot(name))

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
        await self.destroy()
