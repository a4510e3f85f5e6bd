"""Deep Agents: `create_deep_agent(backend=SandboxBackend(sandbox))` gives an agent a machine.

Needs the extra ``deepagents``; importing this without it says what to type.
"""

from llm_sandbox.aio import AsyncSandbox, AsyncSession
from llm_sandbox.data import ProcessResult
from llm_sandbox.exceptions import (
    FileError,
    OutputLimitError,
    PathError,
    SandboxError,
    SandboxFileNotFoundError,
    SandboxIsADirectoryError,
    SandboxNotADirectoryError,
    SandboxPermissionError,
)
from llm_sandbox.integrations.calls import plain_session
from llm_sandbox.integrations.commands import run_command, run_command_async
from llm_sandbox.integrations.extras import require
from llm_sandbox.limits import validate_timeout
from llm_sandbox.sandbox import Sandbox
from llm_sandbox.session.session import BaseSession

require("deepagents.backends.sandbox", "deepagents")

from deepagents.backends.protocol import (  # noqa: E402 - the line above says what to install
    ExecuteResponse,
    FileDownloadResponse,
    FileUploadResponse,
)
from deepagents.backends.sandbox import BaseSandbox  # noqa: E402

__all__ = ["SandboxBackend"]

# The framework's own words for what a model can do something about.
_WORDS: tuple[tuple[type[FileError], str], ...] = (
    (SandboxFileNotFoundError, "file_not_found"),
    (SandboxPermissionError, "permission_denied"),
    (SandboxIsADirectoryError, "is_directory"),
    (SandboxNotADirectoryError, "invalid_path"),
    (PathError, "invalid_path"),
)


class SandboxBackend(BaseSandbox):
    """Sandbox as backend for an agent's files and commands.

    The framework's tools (``execute``, ``read_file``, ``write_file``, ``edit_file``, ``ls``,
    ``grep``, ``glob``) work in the sandbox, with absolute paths; tell the agent the working
    directory, `workdir`. With a session, also give the agent the tool of
    `llm_sandbox.integrations.langchain.make_tool` for the same session, whose code sees the same
    files.

    Both streams are returned in the order of writing. At its timeout a command is killed with its
    children, and ends with 124. Cancelling `aexecute` kills it, too. A sandbox that fails raises
    `SandboxError`.

    Args:
        place: Open sandbox or session, which is left open.
        timeout: Default seconds for a command; None for no limit.

    Raises:
        MissingDependencyError: The package `deepagents` is not installed; raised by the import of
            this module.
        NotOpenSessionError: The session is not open.
        ValidationError: An argument has the wrong type.
    """

    def __init__(
        self,
        place: Sandbox | AsyncSandbox | BaseSession | AsyncSession,
        *,
        timeout: float | None = 120.0,
    ) -> None:
        self._sandbox = _sandbox(place)
        self._timeout = validate_timeout(timeout)

    @property
    def id(self) -> str:
        """Id of the sandbox."""
        return self._sandbox.id

    @property
    def workdir(self) -> str:
        """Working directory of commands."""
        return self._sandbox.workdir

    def execute(self, command: str, *, timeout: int | None = None) -> ExecuteResponse:
        """Run a command line.

        Args:
            command: Command line for ``sh -c``.
            timeout: Seconds until the command is killed; None for the backend's default, 0 for no
                limit.

        Raises:
            SandboxError: The sandbox itself failed.
        """
        return _response(run_command(self._sandbox, command, self._seconds(timeout)))

    async def aexecute(
        self,
        command: str,
        *,
        timeout: int | None = None,  # noqa: ASYNC109 - the framework's
    ) -> ExecuteResponse:
        """Run a command line, like `execute`; cancellation kills the command."""
        place = AsyncSandbox(self._sandbox)
        return _response(await run_command_async(place, command, self._seconds(timeout)))

    def _seconds(self, asked: int | None) -> float | None:
        return self._timeout if asked is None else asked or None

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        """Write files, with missing parent folders, and report failures for each."""
        return [FileUploadResponse(path, self._write(path, data)) for path, data in files]

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        """Read files of up to 64 MiB each, and report failures for each."""
        return [self._read(path) for path in paths]

    def _write(self, path: str, data: bytes) -> str | None:
        try:
            self._sandbox.files.write_bytes(path, data)
        except FileError as error:
            return _word(error)
        return None

    def _read(self, path: str) -> FileDownloadResponse:
        try:
            return FileDownloadResponse(path, self._sandbox.files.read_bytes(path))
        except (FileError, OutputLimitError) as error:
            return FileDownloadResponse(path, error=_word(error))


def _sandbox(place: object) -> Sandbox:
    if isinstance(place, Sandbox):
        return place
    if isinstance(place, AsyncSandbox):
        return place._sandbox
    return plain_session(place).sandbox


def _response(done: ProcessResult) -> ExecuteResponse:
    return ExecuteResponse(done.stdout, done.exit_code, done.stdout_truncated)


def _word(error: SandboxError) -> str:
    for kind, word in _WORDS:
        if isinstance(error, kind):
            return word
    return error.message
