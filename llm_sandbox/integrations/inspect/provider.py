"""The provider: sandboxes as inspect asks for them."""

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
    """Raise what inspect expects of `read_file` and `write_file`.

    Args:
        path: The file, as the caller named it.

    Raises:
        FileNotFoundError: Nothing can be at the path.
        IsADirectoryError: It is a directory.
        PermissionError: The sandbox's user may not.
        OutputLimitExceededError: The file has more than inspect reads.
        SandboxUnavailableError: The sandbox has ended.
    """
    try:
        with _unavailable():
            yield
    except OutputLimitError as error:
        limit = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR
        raise OutputLimitExceededError(limit, None) from error
    # inspect tells a model of `strerror` and `filename`, which only these constructors set.
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
    """Raise SandboxUnavailableError where the sandbox is no longer there."""
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
    """A sandbox of a sample, made by the first backend that isolates, or as configured.

    Programs run as the sandbox's one user, without a network unless it is opened. The sandbox ends
    with the sample, and in any case with the process that made it. There is no way to connect to
    it from outside (`connection`).

    Args:
        sandbox: The sandbox, which is ended by `sample_cleanup`.
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
        """Run a program to its end. Cancelled, it is killed with everything it started.

        Args:
            cmd: The program and its arguments.
            input: What it reads; None for nothing.
            cwd: Its working directory; relative to the sandbox's, and None for that.
            env: Variables for it, over those of the sandbox.
            user: None or ``sandbox``, the only user there is.
            timeout: Seconds until it is killed with everything it started; None, which is inspect's
                default, for no limit but those of the sample.
            timeout_retry: Of no effect: it is meant for connections that hang, and here only the
                program itself can take too long. It is never run again.
            concurrency: Whether it counts among the programs of which ``--max-subprocesses`` run
                at once.

        Returns:
            How it ended: 127 where there is no such program, 126 where it cannot start, as when
            there is no such working directory.

        Raises:
            TimeoutError: It took longer; ``truncated_output`` has what it had written.
            PermissionError: It is no program that may be executed.
            OutputLimitExceededError: It wrote more than inspect allows; it has run to its end.
            SandboxUserUnsupportedError: Another user.
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
        """Write a file; missing directories on the way are made. For errors see `_file_errors`."""
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
            UnicodeDecodeError: It was to be text, and is not.
        """
        with _file_errors(file):
            data = await self._sandbox.files.read_bytes(
                file, SandboxEnvironmentLimits.MAX_READ_FILE_SIZE
            )
        # trust: bytes from inside, at most as many as inspect reads.
        return data.decode("utf-8") if text else data

    def default_polling_interval(self) -> float:
        """Seconds between two looks at what goes on inside; a look costs milliseconds."""
        return _POLLING_S

    # --- life

    @classmethod
    async def task_init(cls, task_name: str, config: SandboxEnvironmentConfigType | None) -> None:
        """Make the sandboxes of one sample and end them: what cannot work fails before the first
        sample, and images are fetched once.

        Raises:
            SandboxError: They cannot be made here as configured.
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
        """Make the sandboxes of a sample, the default one first; failed or cancelled, none stays.

        Raises:
            SandboxError: One cannot be made.
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
        """Say, where sandboxes are to be kept, how long that is possible."""
        del task_name, config
        if not cleanup:
            logger.warning(
                "llm_sandbox: sandboxes that are not cleaned up end with this process all the same"
            )

    @classmethod
    async def cli_cleanup(cls, id: str | None) -> None:
        """End what is left in container engines; see `_clean_up`."""
        await _clean_up(id)

    # --- configuration

    @classmethod
    def default_concurrency(cls) -> int | None:
        """How many samples have sandboxes at once, unless ``--max-sandboxes`` says: two a CPU."""
        return _SANDBOXES_PER_CPU * _cpus()

    @classmethod
    def config_files(cls) -> list[str]:
        """What is read when it lies beside the task and nothing else was configured."""
        return [CONFIG_FILE]

    @classmethod
    def config_deserialize(cls, config: dict[str, Any]) -> SandboxConfig:
        """Return the configuration that a log holds."""
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
    """One of the places that ``--max-subprocesses`` leaves, which inspect's own programs share."""
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
    """End sandboxes, and print which.

    Sandboxes of other backends are processes that end with their evaluation.

    Args:
        sandbox_id: The one to end, whoever uses it; None for those that no living process owns.

    Raises:
        ValueError: There is no such sandbox.
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
