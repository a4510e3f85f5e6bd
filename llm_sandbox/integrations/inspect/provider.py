"""Sandbox provider for inspect_ai."""

import errno
import logging
import os
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Literal, overload

from anyio import to_thread
from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxEnvironment,
    SandboxEnvironmentConfigType,
    SandboxEnvironmentLimits,
    SandboxUnavailableError,
    SandboxUserUnsupportedError,
    concurrency,
    sandboxenv,
)

from llm_sandbox.aio import AsyncSandbox
from llm_sandbox.data import ProcessResult
from llm_sandbox.exceptions import (
    ContainerGoneError,
    LaunchError,
    OutputLimitError,
    PathError,
    SandboxFileNotFoundError,
    SandboxIsADirectoryError,
    SandboxNotADirectoryError,
    SandboxPermissionError,
    SessionClosedError,
    TransportError,
    UnsupportedError,
)
from llm_sandbox.integrations.inspect.config import CONFIG_FILE, SandboxConfig, read_config

__all__ = ["InspectSandbox"]


@contextmanager
def _file_errors(path: str) -> Iterator[None]:
    """Translate errors of the block to those that inspect documents for files.

    Args:
        path: File, as given by the caller.

    Raises:
        FileNotFoundError: The path does not exist or is invalid.
        IsADirectoryError: The path is a directory.
        PermissionError: The sandbox's user lacks the permission.
        OutputLimitExceededError: The file exceeds inspect's limit.
        SandboxUnavailableError: The sandbox has ended.
    """
    try:
        with _unavailable():
            yield
    except OutputLimitError as error:
        limit = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR
        raise OutputLimitExceededError(limit, None) from error
    # inspect shows a model `strerror` and `filename`, which only these constructors set.
    except SandboxIsADirectoryError as error:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path) from error
    except SandboxPermissionError as error:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path) from error
    except SandboxNotADirectoryError as error:
        # A file within a file: inspect knows no kind of its own for it, and would end the sample.
        raise FileNotFoundError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path) from error
    except PathError as error:
        raise FileNotFoundError(errno.ENOENT, error.message, path) from error
    except SandboxFileNotFoundError as error:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path) from error


@contextmanager
def _unavailable() -> Iterator[None]:
    """Raise SandboxUnavailableError if the sandbox no longer exists."""
    try:
        yield
    except (ContainerGoneError, SessionClosedError, TransportError) as error:
        raise SandboxUnavailableError(str(error)) from error


logger = logging.getLogger(__name__)

_NOT_FOUND = 127
_NOT_STARTED = 126
_POLLING_S = 0.2
_SANDBOXES_PER_CPU = 2


@sandboxenv(name="llm_sandbox")
class InspectSandbox(SandboxEnvironment):
    """Sandbox of a sample, on the first backend that isolates, or as configured.

    Programs run as the only user, without a network unless configured. The sandbox ends with the
    sample, or with the process that created it. Connections from outside (`connection`) are not
    supported.

    Args:
        sandbox: Sandbox, which `sample_cleanup` ends.
    """

    def __init__(self, sandbox: AsyncSandbox) -> None:
        super().__init__()
        self._sandbox = sandbox

    def __repr__(self) -> str:
        return f"<InspectSandbox {self._sandbox!r}>"

    # --- programs

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,  # noqa: ASYNC109 - inspect's signature
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        """Run a program to its end. Cancellation kills it with its children.

        Args:
            cmd: The program and its arguments.
            input: Standard input; None for none.
            cwd: Working directory, relative to that of the sandbox; None for that of the sandbox.
            env: Variables of the program, which override those of the sandbox.
            user: None or ``sandbox``, the only user.
            timeout: Seconds until the program is killed with its children; None, inspect's default,
                for the limits of the sample.
            timeout_retry: No effect: it is meant for hanging connections, and here only the program
                itself can time out. Programs are never retried.
            concurrency: Whether the program counts towards ``--max-subprocesses``.

        Returns:
            The result, with exit code 127 if the program does not exist, and 126 if it cannot
            start, such as in a missing working directory.

        Raises:
            TimeoutError: The timeout passed; ``truncated_output`` has the output so far.
            PermissionError: The program is not executable.
            OutputLimitExceededError: The output exceeds inspect's limit; the program has run to its
                end.
            SandboxUserUnsupportedError: Another user is given.
            SandboxUnavailableError: The sandbox has ended.
        """
        del timeout_retry
        async with _slot(concurrency):
            try:
                done = await self._run(cmd, input, cwd, env, user, timeout)
            except LaunchError as error:
                if error.kind == "not_executable":
                    raise PermissionError(error.message) from error
                code = _NOT_FOUND if error.kind == "not_found" else _NOT_STARTED
                return ExecResult(False, code, "", f"{error.message}\n")
            except UnsupportedError as error:
                raise SandboxUserUnsupportedError(str(error)) from error
        return self._checked(done, timeout)

    async def _run(
        self,
        cmd: list[str],
        stdin: str | bytes | None,
        cwd: str | None,
        env: Mapping[str, str] | None,
        user: str | None,
        seconds: int | None,
    ) -> ProcessResult:
        with _unavailable():
            process = await self._sandbox.exec(
                *cmd, env=env, cwd=cwd, stdin=stdin, timeout=seconds, user=user
            )
            try:
                return await process.collect()
            except BaseException:
                await process.kill()
                raise

    def _checked(self, done: ProcessResult, seconds: int | None) -> ExecResult[str]:
        # trust: both streams are what programs inside wrote; they are bounded, decoded text.
        stdout, stderr = done.stdout, done.stderr
        limit = SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE
        if done.timed_out:
            late = TimeoutError(f"the command was stopped after {seconds} seconds")
            late.truncated_output = _cut(stdout + stderr, limit)  # type: ignore[attr-defined]
            raise late
        if self._sandbox.end_reason is not None:
            raise SandboxUnavailableError(
                f"the sandbox ended while the command ran: {self._sandbox.end_reason}"
            )
        if (
            done.stdout_truncated
            or done.stderr_truncated
            or max(_size(stdout), _size(stderr)) > limit
        ):
            raise OutputLimitExceededError(
                SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE_STR,
                _cut(stdout, limit) + _cut(stderr, limit),
            )
        return ExecResult(done.exit_code == 0, done.exit_code, stdout, stderr)

    # --- files

    async def write_file(self, file: str, contents: str | bytes) -> None:
        """Write a file, with missing parent directories. For errors see `_file_errors`."""
        data = contents.encode("utf-8") if isinstance(contents, str) else contents
        with _file_errors(file):
            await self._sandbox.files.write_bytes(file, data)

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        """Return a file's content, as UTF-8 text or as bytes. For errors see `_file_errors`.

        Raises:
            UnicodeDecodeError: Text was requested, and the content is not UTF-8.
        """
        with _file_errors(file):
            data = await self._sandbox.files.read_bytes(
                file, SandboxEnvironmentLimits.MAX_READ_FILE_SIZE
            )
        # trust: bytes from inside, at most as many as inspect reads.
        return data.decode("utf-8") if text else data

    def default_polling_interval(self) -> float:
        """Return the seconds between polls of a background process; a poll costs milliseconds."""
        return _POLLING_S

    # --- life

    @classmethod
    async def task_init(cls, task_name: str, config: SandboxEnvironmentConfigType | None) -> None:
        """Create and end the sandboxes of one sample, so that errors appear before the first
        sample, and images are pulled once.

        Raises:
            SandboxError: The configured sandboxes cannot be created.
        """
        made = await cls.sample_init(task_name, config, {})
        await cls.sample_cleanup(task_name, config, made, interrupted=False)

    @classmethod
    async def sample_init(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        metadata: dict[str, str],
    ) -> dict[str, SandboxEnvironment]:
        """Create the sandboxes of a sample, the default one first; after a failure or cancellation
        none is left.

        Raises:
            SandboxError: A sandbox cannot be created.
        """
        del metadata
        made: dict[str, SandboxEnvironment] = {}
        try:
            for name, one in read_config(config).by_name().items():
                made[name] = cls(await _make(one))
        except BaseException:
            await cls.sample_cleanup(task_name, config, made, interrupted=True)
            raise
        return made

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        """End the sandboxes of a sample, even if the call is cancelled."""
        del task_name, config, interrupted
        failed: Exception | None = None
        for environment in environments.values():
            try:
                await environment.as_type(InspectSandbox)._sandbox.destroy()
            except Exception as error:  # noqa: BLE001 - the others end, too
                failed = error
        if failed is not None:
            raise failed

    @classmethod
    async def task_cleanup(
        cls, task_name: str, config: SandboxEnvironmentConfigType | None, cleanup: bool
    ) -> None:
        """Print how long sandboxes are kept, if cleanup is disabled."""
        del task_name, config
        if not cleanup:
            logger.warning(
                "llm_sandbox: sandboxes that are not cleaned up end with this process all the same"
            )

    @classmethod
    async def cli_cleanup(cls, id: str | None) -> None:
        """End remaining sandboxes in container engines; see `_clean_up`."""
        await _clean_up(id)

    # --- configuration

    @classmethod
    def default_concurrency(cls) -> int | None:
        """Return the default of ``--max-sandboxes``: two samples for each CPU."""
        return _SANDBOXES_PER_CPU * _cpus()

    @classmethod
    def config_files(cls) -> list[str]:
        """Return the names of configuration files that are read beside a task."""
        return [CONFIG_FILE]

    @classmethod
    def config_deserialize(cls, config: dict[str, Any]) -> SandboxConfig:
        """Parse the configuration in a log."""
        return SandboxConfig(**config)


async def _make(config: SandboxConfig) -> AsyncSandbox:
    most = max(config.limits.output_bytes, SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE)
    return await AsyncSandbox.create(
        backend=config.backend,
        image=config.image,
        workdir=config.workdir,
        env=config.env,
        limits=replace(config.limits, output_bytes=most),
        network=config.network,
        timeout=config.timeout,
    )


@asynccontextmanager
async def _slot(wanted: bool) -> AsyncIterator[None]:
    """Acquire one of the ``--max-subprocesses`` slots, shared with inspect's own subprocesses."""
    if not wanted:
        yield
        return
    async with concurrency("subprocesses", _most_programs(), resizable=True):
        yield


def _most_programs() -> int:
    # Whoever asks for a place first says how many there are, and inspect has no public name for it.
    try:
        from inspect_ai.util._subprocess import max_subprocesses_context_var
    except ImportError:
        return _cpus()
    return max_subprocesses_context_var.get()


def _cpus() -> int:
    count = os.cpu_count() or 1
    if sys.platform == "linux":
        count = len(os.sched_getaffinity(0))
    return count


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _cut(text: str, limit: int) -> str:
    return text.encode("utf-8", "surrogatepass")[:limit].decode("utf-8", "ignore")


async def _clean_up(sandbox_id: str | None) -> None:
    """End remaining sandboxes in container engines, and print their names.

    Sandboxes of other backends are processes that end with their evaluation.

    Args:
        sandbox_id: Id of the sandbox to end, whatever uses it; None for those without a living
            owner process.

    Raises:
        ValueError: The sandbox does not exist.
    """
    from llm_sandbox.cli.sandboxes import gc, stop

    try:
        if sandbox_id is None:
            await to_thread.run_sync(partial(gc, verbose=True))
        else:
            await to_thread.run_sync(stop, [sandbox_id])
    except SystemExit as ended:
        if ended.code:
            raise ValueError(f"the cleanup of {sandbox_id or 'sandboxes'} failed") from None
