"""Executor of an agent's code."""

import contextlib
from types import TracebackType
from typing import Any, Self

import PIL.Image
from smolagents.local_python_executor import (  # type: ignore[import-untyped]
    CodeOutput,
    PythonExecutor,
)
from smolagents.memory import ActionStep  # type: ignore[import-untyped]
from smolagents.monitoring import AgentLogger, LogLevel  # type: ignore[import-untyped]
from smolagents.serialization import (  # type: ignore[import-untyped]
    SafeSerializer,
    SerializationError,
)
from smolagents.utils import (  # type: ignore[import-untyped]
    AgentExecutionError,
    truncate_content,
)

from llm_sandbox.aio import AsyncSession
from llm_sandbox.backends.base import Backend
from llm_sandbox.const import StateOutcome
from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import SandboxError, ValidationError, ValueNotTransferableError
from llm_sandbox.integrations.calls import CodeCalls, check_own_session, plain_session
from llm_sandbox.integrations.pixels import decode_pictures
from llm_sandbox.integrations.smolagents.final_answer import (
    PROGRAM,
    NoAnswerError,
    is_final,
    read_answer,
)
from llm_sandbox.integrations.smolagents.tools import define, send_tools
from llm_sandbox.integrations.tool import ToolOptions
from llm_sandbox.limits import DEFAULT_TIMEOUT_S
from llm_sandbox.results.outputs import StreamOutput
from llm_sandbox.session.config import SessionConfig
from llm_sandbox.session.session import BaseSession

__all__ = ["SandboxExecutor"]

_MOST_LINES = 50


class SandboxExecutor(PythonExecutor):  # type: ignore[misc]
    """Python executor for smolagents that runs code in a sandbox.

    Printed output is in the logs; code that fails, takes too long or is refused raises the
    framework's `AgentExecutionError`, which the agent passes to its model. Images are in `images`
    after each step; with ``step_callbacks=[executor.observe]`` the model sees them.

    Tools are sent as source, as with the framework's remote executors. A tool that would not work
    in the sandbox is refused: it must import inside its functions, have no state, and get its
    libraries by ``SessionConfig(libraries=[...])``. Values are returned as plain data, arrays,
    tables and images, otherwise as text; nothing is ever unpickled.

    Args:
        session: Open Python session that keeps variables, and is left open; None for an own
            session, created on first use and ended by `cleanup`.
        config: Settings of the own session; None for the defaults.
        backend: Backend of the own session; None picks one that isolates.
        timeout: Seconds for each step, 60 by default; None for the session's timeout, which is none
            by default.
        max_print_outputs_length: Maximum characters of the logs of a step.

    Raises:
        MissingDependencyError: The package `smolagents` is not installed; raised by the import of
            this module.
        ValidationError: The session has another language, keeps no variables, or is given together
            with settings; or an argument has the wrong type.
    """

    def __init__(
        self,
        session: BaseSession | AsyncSession | None = None,
        *,
        config: SessionConfig | None = None,
        backend: str | Backend | None = None,
        timeout: float | None = DEFAULT_TIMEOUT_S,
        max_print_outputs_length: int = 50_000,
    ) -> None:
        check_own_session(session, config, backend)
        self._config = config or SessionConfig()
        self._given = None if session is None else plain_session(session)
        _check(self._config if self._given is None else self._given.config)
        self._backend = backend
        self._options = ToolOptions(timeout=timeout, images="none")
        self._longest = max_print_outputs_length
        self._calls: CodeCalls | None = None
        self._variables: dict[str, Any] = {}
        self._tools: dict[str, Any] = {}
        self._must_send = False
        self.images: list[PIL.Image.Image] = []
        """Pictures of the last step, at most 5."""

    # --- life

    @property
    def session(self) -> BaseSession:
        """Session, created and opened on first use."""
        return self._open().session

    def _open(self) -> CodeCalls:
        if self._calls is None:
            session = self._given
            if session is None:
                session = BaseSession.configured(self._config, backend=self._backend)
                session.open()
            self._calls = CodeCalls(session, self._options)
        return self._calls

    def cleanup(self) -> None:
        """End the own session; called by `CodeAgent.cleanup`.

        Later use creates a new one, with the same tools and variables.
        """
        calls = self._calls
        if calls is not None and self._given is None:
            self._calls = None
            self._must_send = True
            calls.session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        self.cleanup()

    # --- what the agent sends

    def send_variables(self, variables: dict[str, Any]) -> None:
        """Assign variables in the sandbox: plain data, arrays, tables, images, dates and similar
        values.

        Raises:
            ValueNotTransferableError: A value is of another kind, or contains one.
        """
        self._variables |= variables
        for name, value in variables.items():
            self._set(name, value)

    def _set(self, name: str, value: object) -> None:
        raw = value.to_raw() if hasattr(value, "to_raw") else value
        try:
            self.session.set(name, raw)
        except ValueNotTransferableError:
            try:
                # This way only: what is written here is read inside, and never the other way.
                text = SafeSerializer.dumps(raw, allow_pickle=False)
            except SerializationError:
                text = None
            if text is None:
                raise
            reader = SafeSerializer.get_deserializer_code(False)
            code = f"{reader}\n{name} = _deserialize({text!r})"
            define(self.session, code, f"the variable {name!r}", self._options.timeout)

    def send_tools(self, tools: dict[str, Any]) -> None:
        """Define tools in the sandbox by running their source.

        Raises:
            UnsupportedError: A tool would not work in the sandbox.
            SecurityViolationError: The security policy of the session refuses the source of a tool.
        """
        if tools:
            send_tools(self.session, tools, self._options.timeout)
        if "final_answer" in tools:
            define(self.session, PROGRAM, "final_answer", self._options.timeout)
        self._tools = dict(tools)
        self._must_send = False

    # --- steps

    def __call__(self, code_action: str) -> Any:
        """Run the code of a step.

        Returns:
            `CodeOutput` with the final answer, otherwise the value of the last expression as text,
            otherwise the last image.

        Raises:
            AgentExecutionError: The code failed, took too long or was refused.
            SandboxError: The sandbox itself failed.
        """
        calls = self._open()
        if self._must_send:
            self._send_again()
        self.images = []
        reply = calls.answer(code_action)
        result = reply.result
        if result is None:
            raise _failed(reply.text)
        self._must_send = result.state is not StateOutcome.KEPT
        self.images = self._images(result)
        if is_final(result):
            with contextlib.suppress(NoAnswerError):
                return CodeOutput(read_answer(self.session), self._logs(result), True)
        if result.exit_code != 0:
            raise _failed(reply.text)
        output = result.value if result.value is not None or not self.images else self.images[-1]
        return CodeOutput(output, self._logs(result), False)

    def observe(self, step: ActionStep) -> None:
        """Add the images of a step to the model's observations; use as a step callback."""
        if self.images:
            step.observations_images = [*(step.observations_images or ()), *self.images]
            self.images = []

    def _send_again(self) -> None:
        """Send tools and variables again after a restart of the interpreter."""
        self.send_variables(self._variables)
        self.send_tools(self._tools)

    def _images(self, result: ExecutionResult) -> list[PIL.Image.Image]:
        try:
            found = decode_pictures(self.session.sandbox, result.artifacts)
        except SandboxError:
            return []
        return [PIL.Image.frombytes("RGB", (p.width, p.height), p.data) for p in found]

    def _logs(self, result: ExecutionResult) -> str:
        # The streams of a result hold the traceback of an error, too, and final answers are one.
        printed = (item.text for item in result.outputs if isinstance(item, StreamOutput))
        parts = ["".join(printed), *(f"note: {note}" for note in result.notes)]
        if result.dropped_bytes:
            parts.append(f"{result.dropped_bytes:,} bytes of output were dropped")
        parts += [item.describe() for item in result.artifacts[:_MOST_LINES]]
        logs = "".join(f"{part.rstrip()}\n" for part in parts if part)
        return str(truncate_content(logs, max_length=self._longest))


def _check(config: SessionConfig) -> None:
    if config.lang != "python" or not config.persistent:
        raise ValidationError(
            "the agent needs a Python session that keeps variables", parameter="session"
        )


def _failed(words: str) -> Exception:
    # The agent reports it, too, to its own logger.
    error: Exception = AgentExecutionError(words, AgentLogger(level=LogLevel.OFF))
    return error
