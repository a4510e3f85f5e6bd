"""Google ADK: `Agent(code_executor=SandboxCodeExecutor())` runs what the model writes in a sandbox.

Needs the extra ``google-adk``; importing this without it says what to type.
"""

import base64
import threading
from collections import OrderedDict
from types import TracebackType
from typing import Self

from pydantic import Field, PrivateAttr

from llm_sandbox.aio import AsyncSession
from llm_sandbox.artifacts.artifact import Artifact, extension
from llm_sandbox.backends.base import Backend
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.integrations.calls import (
    CodeCalls,
    check_interpreter,
    check_own_session,
    plain_session,
)
from llm_sandbox.integrations.extras import require
from llm_sandbox.integrations.tool import ToolOptions
from llm_sandbox.limits import DEFAULT_TIMEOUT_S
from llm_sandbox.session.config import SessionConfig
from llm_sandbox.session.session import BaseSession

require("google.adk.code_executors", "google-adk")

from google.adk.agents.invocation_context import (  # noqa: E402 - see the line above
    InvocationContext,
)
from google.adk.code_executors.base_code_executor import BaseCodeExecutor  # noqa: E402
from google.adk.code_executors.code_execution_utils import (  # noqa: E402
    CodeExecutionInput,
    CodeExecutionResult,
    File,
)

__all__ = ["SandboxCodeExecutor"]


class SandboxCodeExecutor(BaseCodeExecutor):
    """Code executor with one sandbox for each ADK session, which keeps variables.

    Figures and files of the code are returned as files, which ADK saves as artifacts: the runner
    needs an artifact service. Code that fails, takes too long or is refused is an error passed to
    the model; ADK stops running code after `error_retry_attempts` of them in a row. A sandbox that
    fails raises `SandboxError`.

    Args:
        session: Python session of the caller for one conversation, which must be open when the
            first code runs, and is left open. None for an own session for each ADK session, ended
            by `close`.
        config: Settings of own sessions; None for the defaults.
        backend: Backend of own sessions; None picks one that isolates.
        timeout_seconds: Whole seconds for each run; None for the session's timeout.
        max_sessions: Maximum number of own sessions, at least 1; beyond it, the least recently used
            one is ended, and its conversation is told so when it continues.
        optimize_data_file: Whether ADK copies CSV files of the request into the sandbox.
        error_retry_attempts: Consecutive errors after which ADK runs no more code.

    Raises:
        MissingDependencyError: The package `google.adk` is not installed; raised by the import of
            this module.
        ValidationError: The session has another language, keeps no variables, or is given together
            with settings; or an argument has the wrong type.
    """

    stateful: bool = Field(default=True, frozen=True, exclude=True)
    _options: ToolOptions = PrivateAttr()
    _given: CodeCalls | None = PrivateAttr()
    _config: SessionConfig = PrivateAttr()
    _backend: str | Backend | None = PrivateAttr()
    _most: int = PrivateAttr()
    _own: OrderedDict[str | None, CodeCalls] = PrivateAttr(default_factory=OrderedDict)
    _ended: set[str | None] = PrivateAttr(default_factory=set)
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    def __init__(
        self,
        session: BaseSession | AsyncSession | None = None,
        *,
        config: SessionConfig | None = None,
        backend: str | Backend | None = None,
        timeout_seconds: int | None = int(DEFAULT_TIMEOUT_S),
        max_sessions: int = 8,
        optimize_data_file: bool = False,
        error_retry_attempts: int = 2,
    ) -> None:
        check_own_session(session, config, backend)
        if type(max_sessions) is not int or max_sessions < 1:
            raise ValidationError("max_sessions is a whole number from 1", parameter="max_sessions")
        super().__init__(
            timeout_seconds=timeout_seconds,
            optimize_data_file=optimize_data_file,
            error_retry_attempts=error_retry_attempts,
        )
        seconds = None if timeout_seconds is None else float(timeout_seconds)
        self._options = ToolOptions(timeout=seconds, images="none")
        self._config = config or SessionConfig()
        check_interpreter(self._config if session is None else plain_session(session).config)
        self._given = None if session is None else CodeCalls(session, self._options)
        self._backend = backend
        self._most = max_sessions

    def execute_code(
        self, invocation_context: InvocationContext, code_execution_input: CodeExecutionInput
    ) -> CodeExecutionResult:
        """Run a piece of code; ADK calls this in a thread.

        Raises:
            SandboxError: The sandbox itself failed.
        """
        del invocation_context
        calls, note = self._calls_of(code_execution_input.execution_id)
        for file in code_execution_input.input_files:
            data = base64.b64decode(file.content) if isinstance(file.content, str) else file.content
            calls.session.sandbox.files.write_bytes(file.name, data)
        reply = calls.answer(code_execution_input.code)
        words = note + reply.text
        result = reply.result
        if result is None:
            return CodeExecutionResult(stderr=words, exit_code=1)
        # ADK takes whatever is on standard error for a failure, and then shows nothing else.
        told = {"stderr" if reply.failed else "stdout": words}
        files = [_file(item) for item in result.artifacts if item.content is not None]
        return CodeExecutionResult(**told, output_files=files, exit_code=result.exit_code)

    def _calls_of(self, conversation: str | None) -> tuple[CodeCalls, str]:
        if self._given is not None:
            return self._given, ""
        with self._lock:
            found = self._own.pop(conversation, None)
            if found is None:
                while len(self._own) >= self._most:
                    oldest, calls = self._own.popitem(last=False)
                    self._ended.add(oldest)
                    calls.session.close()
                session = BaseSession.configured(self._config, backend=self._backend)
                session.open()
                found = CodeCalls(session, self._options)
            self._own[conversation] = found
            was_ended = conversation in self._ended
            self._ended.discard(conversation)
        note = "note: the sandbox is new: earlier variables and files are gone\n"
        return found, note if was_ended else ""

    def session_of(self, conversation: str) -> BaseSession:
        """Return the session of an ADK session, created on first use, for example to upload files.

        Args:
            conversation: Id of the ADK session.

        Raises:
            SandboxError: The session could not be created.
        """
        return self._calls_of(conversation)[0].session

    def close(self) -> None:
        """End all own sessions. Later use creates new ones."""
        with self._lock:
            while self._own:
                conversation, calls = self._own.popitem()
                self._ended.add(conversation)
                calls.session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        self.close()


def _file(artifact: Artifact) -> File:
    ending = "" if artifact.paths else extension(artifact.mime)
    return File(artifact.name + ending, artifact.bytes(), artifact.mime)
