"""Provider of `agno.sandbox`: detached sandboxes of this library as computers of Agno's agents."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import anyio
from agno.sandbox.base import ExecResult, Sandbox, SandboxHandle
from agno.sandbox.base import SandboxError as AgnoSandboxError

from llm_sandbox.aio import AsyncSandbox
from llm_sandbox.aio.streams import AsyncOutputStream
from llm_sandbox.backends.base import Backend
from llm_sandbox.exceptions import (
    LaunchError,
    NameInUseError,
    SandboxError,
    SandboxNotFoundError,
    ValidationError,
)
from llm_sandbox.limits import LimitOptions, Limits, validate_timeout
from llm_sandbox.mounts import Mount
from llm_sandbox.network import Network

__all__ = ["IsolatedSandbox"]

_NOT_STARTED = 127


class IsolatedSandbox(Sandbox):
    """Provider of computers for Agno: one detached sandbox for each session and generation.

    A computer is found again from other processes of the same user, until it is stopped, destroyed
    or ended by a timeout. Its files end with it, and for a day its generation cannot be created
    again. Checkpoints, pausing and resuming, which Agno leaves to providers, are not supported.

    Args:
        namespace: Namespace of the sandboxes: 1 to 64 letters, digits, ``.``, ``_`` or ``-``.
        backend: Backend; None picks one that isolates.
        image: Image of a container backend; None for the image of Python sessions.
        limits: Resource limits; None for the defaults.
        network: As for `llm_sandbox.Sandbox.create`.
        mounts: Mounts by path inside.
        env: Environment variables of every computer.
        execution_timeout: Seconds that one turn of an agent may take.
        timeout: Seconds until a computer ends; None for no limit.
        idle_timeout: Seconds without activity until a computer ends; None for no limit.

    Raises:
        ValidationError: An option is invalid.
    """

    def __init__(
        self,
        *,
        namespace: str = "agno",
        backend: str | Backend | None = None,
        image: str | None = None,
        limits: Limits | LimitOptions | None = None,
        network: Network = "blocked",
        mounts: Mapping[str, Mount] | None = None,
        env: Mapping[str, str] | None = None,
        execution_timeout: float = 900,
        timeout: float | None = None,
        idle_timeout: float | None = 3600,
    ) -> None:
        self.namespace = namespace
        self.env = None if env is None else dict(env)
        seconds = validate_timeout(execution_timeout, "execution_timeout")
        if not seconds:
            raise ValidationError(
                "invalid execution_timeout: expected seconds", parameter="execution_timeout"
            )
        self.execution_timeout = seconds
        self._options: dict[str, Any] = {
            "backend": backend,
            "image": image,
            "limits": Limits.parse(limits),
            "network": network,
            "mounts": dict(mounts or {}),
            "timeout": validate_timeout(timeout),
            "idle_timeout": validate_timeout(idle_timeout, "idle_timeout"),
        }

    async def acreate(
        self,
        session_id: str,
        *,
        agent_id: str | None = None,
        generation: int = 1,
        env: Mapping[str, str] | None = None,
    ) -> SandboxHandle:
        """Create the computer of a generation, or return it if it lives.

        Args:
            session_id: Session of Agno.
            agent_id: Agent of Agno.
            generation: Number from 1; what has ended comes back as another generation.
            env: Environment variables.

        Raises:
            agno.sandbox.SandboxError: The sandbox could not be created; or it exists with another
                configuration; or it has ended.
            ValueError: An argument is invalid.
        """
        found = await self.afind(session_id, agent_id=agent_id, generation=generation, env=env)
        if found is not None:
            return found
        tags = self._tags(session_id, agent_id, generation, env)
        try:
            sandbox = await AsyncSandbox.create(
                **self._options,
                env=env,
                name=self._name(session_id, agent_id, generation),
                namespace=self.namespace,
                tags=tags,
                on_exit="keep",
            )
        except NameInUseError:
            # Another process was faster: a name is given once.
            found = await self.afind(session_id, agent_id=agent_id, generation=generation, env=env)
            if found is not None:
                return found
            raise AgnoSandboxError(f"generation {generation} is just ending") from None
        except SandboxError as error:
            raise _translated(error) from error
        handle = _handle(sandbox)
        await sandbox.detach()
        return handle

    async def afind(
        self,
        session_id: str,
        *,
        agent_id: str | None = None,
        generation: int = 1,
        env: Mapping[str, str] | None = None,
        for_create: bool = False,
    ) -> SandboxHandle | None:
        """Return the living computer of a generation; None if there was none.

        Raises:
            agno.sandbox.SandboxError: It has another configuration, or has ended.
            ValueError: An argument is invalid.
        """
        wanted = self._tags(session_id, agent_id, generation, env)
        name = self._name(session_id, agent_id, generation)
        try:
            sandbox = await AsyncSandbox.from_name(name, self.namespace)
        except SandboxNotFoundError as error:
            if error.end_reason is None:
                return None
            raise AgnoSandboxError(
                f"generation {generation} has ended ({error.end_reason}); recovery requires a new "
                "generation"
            ) from None
        except SandboxError as error:
            raise _translated(error) from error
        handle = _handle(sandbox)
        await sandbox.detach()
        if handle.config_digest != wanted["config"]:
            raise AgnoSandboxError(f"generation {generation} exists with another configuration")
        return handle

    async def aget(self, provider_ref: str) -> SandboxHandle | None:
        """Return the living computer of an id; None if there is none.

        Raises:
            agno.sandbox.SandboxError: It is of another namespace, or not Agno's.
        """
        sandbox = await self._attach(provider_ref)
        if sandbox is None:
            return None
        try:
            return _handle(sandbox)
        finally:
            await sandbox.detach()

    async def aexec(
        self,
        handle: SandboxHandle,
        argv: Sequence[str],
        *,
        timeout: float = 60,  # noqa: ASYNC109 - the framework's
        max_output_bytes: int = 1_048_576,
        stdin: bytes = b"",
    ) -> ExecResult:
        """Run a program to its end; cancelling the task ends it, with all that it started.

        Args:
            handle: The computer.
            argv: The program and its arguments.
            timeout: Seconds until it is killed.
            max_output_bytes: Bytes of both streams together; a program that writes more is killed.
            stdin: Standard input.

        Returns:
            Its exit code, which is 127 for a program that could not be started, and what it wrote.

        Raises:
            agno.sandbox.SandboxError: The computer is gone, or failed.
            ValueError: An argument is invalid.
        """
        if isinstance(argv, str | bytes) or not argv:
            raise ValueError("invalid argv: expected a sequence of texts")
        sandbox = await self._attach(handle.provider_ref)
        if sandbox is None:
            raise AgnoSandboxError(f"sandbox {handle.provider_ref} has ended")
        try:
            return await _execute(sandbox, argv, timeout, max_output_bytes, stdin)
        except LaunchError as error:
            return ExecResult(_NOT_STARTED, "", error.message)
        except ValidationError as error:
            raise ValueError(error.message) from error
        except SandboxError as error:
            raise _translated(error) from error
        finally:
            with anyio.CancelScope(shield=True):
                await sandbox.detach()

    async def astop(self, handle: SandboxHandle) -> None:
        """End a computer, and wait for its end."""
        sandbox = await self._attach(handle.provider_ref)
        if sandbox is not None:
            await sandbox.terminate()
            await sandbox.wait()

    async def adestroy(self, handle: SandboxHandle) -> None:
        """End a computer at once."""
        sandbox = await self._attach(handle.provider_ref)
        if sandbox is not None:
            await sandbox.destroy()

    async def _attach(self, sandbox_id: str) -> AsyncSandbox | None:
        try:
            sandbox = await AsyncSandbox.attach(sandbox_id)
        except SandboxNotFoundError:
            return None
        except ValidationError as error:
            raise ValueError(error.message) from error
        except SandboxError as error:
            raise _translated(error) from error
        if sandbox.namespace != self.namespace or "generation" not in sandbox.tags:
            await sandbox.detach()
            raise AgnoSandboxError(f"sandbox {sandbox_id} does not belong to this provider")
        return sandbox

    def _name(self, session_id: str, agent_id: str | None, generation: int) -> str:
        return f"agno-{_digest([session_id, agent_id, generation])[:40]}"

    def _tags(
        self, session_id: str, agent_id: str | None, generation: int, env: Mapping[str, str] | None
    ) -> dict[str, str]:
        """Return the tags of a generation.

        Raises:
            ValueError: An argument is invalid.
        """
        if not session_id:
            raise ValueError("invalid session_id: expected a text, got an empty one")
        if agent_id == "":
            raise ValueError("invalid agent_id: expected a text or None, got an empty one")
        if generation < 1:
            raise ValueError(f"invalid generation: expected a number from 1, got {generation!r}")
        words = {name: repr(value) for name, value in self._options.items()}
        config = _digest([session_id, agent_id, generation, words, sorted((env or {}).items())])
        tags = {"session": session_id, "generation": str(generation), "config": config}
        return tags if agent_id is None else {**tags, "agent": agent_id}


async def _execute(
    sandbox: AsyncSandbox, argv: Sequence[str], timeout_s: float, most: int, stdin: bytes
) -> ExecResult:
    """Run a program, and kill it when it has written more than it may."""
    process = await sandbox.exec(*argv, timeout=timeout_s, stdin=stdin)
    room, limited = most, False

    async def read(stream: AsyncOutputStream, parts: list[bytes]) -> None:
        nonlocal room, limited
        async for chunk in stream.chunks(text=False):
            parts.append(chunk[:room])
            limited = limited or len(chunk) > room
            room -= min(room, len(chunk))
            if limited:
                await process.kill()
                return

    out: list[bytes] = []
    err: list[bytes] = []
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read, process.stdout, out)
            tasks.start_soon(read, process.stderr, err)
        done = await process.collect()
    except anyio.get_cancelled_exc_class():
        with anyio.CancelScope(shield=True):
            await process.kill()
        raise
    stdout, stderr = (b"".join(parts).decode("utf-8", "replace") for parts in (out, err))
    return ExecResult(done.exit_code, stdout, stderr, done.timed_out, limited)


def _handle(sandbox: AsyncSandbox) -> SandboxHandle:
    tags = sandbox.tags
    return SandboxHandle(
        provider_ref=sandbox.id,
        name=sandbox.name or sandbox.id,
        agent_id=tags.get("agent"),
        session_id=tags["session"],
        generation=int(tags["generation"]),
        state="running",
        config_digest=tags["config"],
    )


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _translated(error: SandboxError) -> AgnoSandboxError:
    hint = f" ({error.hint})" if error.hint else ""
    return AgnoSandboxError(f"{error.message}{hint}")
