"""AutoGen: `CodeExecutorAgent("coder", SandboxCodeExecutor())` runs its code in a sandbox.

Needs the extra ``autogen``; importing this without it says what to type.
"""

import asyncio
from dataclasses import dataclass, field

from llm_sandbox.aio import AsyncSandbox, AsyncSession
from llm_sandbox.backends.base import Backend
from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import NotOpenSessionError
from llm_sandbox.integrations.calls import CodeCalls, check_own_session, plain_session
from llm_sandbox.integrations.commands import run_command_async
from llm_sandbox.integrations.extras import require
from llm_sandbox.integrations.tool import ToolOptions
from llm_sandbox.limits import DEFAULT_TIMEOUT_S, validate_timeout
from llm_sandbox.session.config import SessionConfig
from llm_sandbox.session.session import BaseSession

require("autogen_core.code_executor", "autogen")

from autogen_core import CancellationToken  # noqa: E402 - the line above says what to install
from autogen_core.code_executor import CodeBlock, CodeExecutor, CodeResult  # noqa: E402

__all__ = ["SandboxCodeExecutor", "SandboxCodeResult"]

_SHELLS = frozenset({"sh", "bash", "shell"})
_NAMES = {"py": "python", "python3": "python", "js": "javascript", "c++": "cpp"}


@dataclass
class SandboxCodeResult(CodeResult):
    """AutoGen's code result with the `ExecutionResult` of each block."""

    results: list[ExecutionResult] = field(default_factory=list)
    """Results of the blocks in the session's language, with their figures and files."""


class SandboxCodeExecutor(CodeExecutor):
    """Code executor in a sandbox that keeps variables and files between blocks.

    Blocks in the session's language run in its interpreter; ``sh`` and ``bash`` in a shell. After a
    failed block the rest is skipped. Code that fails, takes too long or is refused, and an unknown
    language, give a result with an exit code; a sandbox that fails raises `SandboxError`.
    Cancelling the token stops the code.

    Args:
        session: Session of the caller, which must be open when the first code runs, and is left
            open. None for an own session, created by `start` and ended by `stop`.
        config: Settings of the own session; None for the defaults.
        backend: Backend of the own session; None picks one that isolates.
        timeout: Seconds for each block; None for the session's timeout, and no limit for shells.

    Raises:
        MissingDependencyError: The package `autogen_core` is not installed; raised by the import of
            this module.
        ValidationError: A session is given together with settings, or an argument has the wrong
            type.
    """

    def __init__(
        self,
        session: BaseSession | AsyncSession | None = None,
        *,
        config: SessionConfig | None = None,
        backend: str | Backend | None = None,
        timeout: float | None = DEFAULT_TIMEOUT_S,
    ) -> None:
        check_own_session(session, config, backend)
        self._config = config
        self._backend = backend
        self._timeout = validate_timeout(timeout)
        self._options = ToolOptions(timeout=self._timeout, images="none")
        self._makes_own = session is None
        self._calls = None if session is None else CodeCalls(session, self._options)

    @property
    def session(self) -> BaseSession:
        """Session that runs the code.

        Raises:
            NotOpenSessionError: The executor was not started.
        """
        return self._started().session

    async def start(self) -> None:
        """Create the own session; no effect for a session of the caller, or if already started."""
        if self._calls is None:
            session = await AsyncSession.configured(self._config, backend=self._backend)
            await session.open()
            self._calls = CodeCalls(session, self._options)

    async def stop(self) -> None:
        """End the own session; a session of the caller is left open."""
        if self._makes_own and self._calls is not None:
            calls, self._calls = self._calls, None
            await AsyncSession(calls.session).close()

    async def restart(self) -> None:
        """Restart the interpreter: variables are lost, files are kept.

        Raises:
            NotOpenSessionError: The executor was not started.
        """
        await AsyncSession(plain_session(self.session)).restart()

    async def execute_code_blocks(
        self, code_blocks: list[CodeBlock], cancellation_token: CancellationToken
    ) -> SandboxCodeResult:
        """Run code blocks in order, until one fails.

        Raises:
            CancelledError: The token was cancelled.
            NotOpenSessionError: The executor was not started.
            SandboxError: The sandbox itself failed.
        """
        calls = self._started()
        told: list[str] = []
        done = SandboxCodeResult(exit_code=0, output="")
        for block in code_blocks:
            task = asyncio.ensure_future(self._run(block, calls, done))
            cancellation_token.link_future(task)
            told.append(await task)
            if done.exit_code != 0:
                break
        done.output = "\n".join(told)
        return done

    async def _run(self, block: CodeBlock, calls: CodeCalls, done: SandboxCodeResult) -> str:
        name = block.language.strip().lower()
        language = str(calls.session.config.lang)
        if _NAMES.get(name, name) == language:
            reply = await calls.answer_async(block.code)
            if reply.result is not None:
                done.results.append(reply.result)
            done.exit_code = 1 if reply.result is None else reply.result.exit_code
            return reply.text
        if name in _SHELLS:
            sandbox = AsyncSandbox(calls.session.sandbox)
            ended = await run_command_async(sandbox, block.code, self._timeout)
            done.exit_code = ended.exit_code
            return ended.stdout
        done.exit_code = 1
        return f"Nothing was run: this sandbox runs {language} and sh, not {block.language!r}."

    def _started(self) -> CodeCalls:
        if self._calls is None:
            raise NotOpenSessionError(
                "the executor has no session yet", hint="await executor.start(), or async with"
            )
        return self._calls
