"""DSPy: `RLM(..., interpreter_factory=SandboxInterpreter)` runs its code in a sandbox.

Needs the extra ``dspy``; importing this without it says what to type.
"""

import keyword
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from llm_sandbox.aio import AsyncSession
from llm_sandbox.backends.base import Backend
from llm_sandbox.const import StateOutcome
from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import SandboxError
from llm_sandbox.integrations.calls import check_interpreter, check_own_session, plain_session
from llm_sandbox.integrations.extras import require
from llm_sandbox.integrations.host_tools import CALL_MIME, HostTools, program
from llm_sandbox.integrations.tool import ToolOptions, answer
from llm_sandbox.limits import DEFAULT_TIMEOUT_S
from llm_sandbox.session.config import SessionConfig
from llm_sandbox.session.session import BaseSession

require("dspy.primitives.code_interpreter", "dspy")

from dspy.primitives.code_interpreter import (  # noqa: E402 - the line above says what to install
    CodeExecutionError,
    CodeInterpreterError,
    FinalOutput,
)

__all__ = ["SandboxInterpreter"]

_SUBMIT = "SUBMIT"
_SUBMITTED = "SubmittedOutput"
_SYNTAX = frozenset({"SyntaxError", "IndentationError", "TabError"})

# Raised by `SUBMIT`; nothing that `except Exception` catches.
_PROGRAM = f'''
class {_SUBMITTED}(BaseException):
    """Ends the run: the output is with the host."""


def _submitting(names):
    def {_SUBMIT}(*args, **kwargs):
        if names is None:
            if len(args) != 1 or kwargs:
                raise TypeError("SUBMIT takes one value")
            value = {{"output": args[0]}}
        else:
            if (args and kwargs) or len(args) > len(names):
                raise TypeError("SUBMIT takes " + ", ".join(names))
            value = dict(zip(names, args)) if args else kwargs
            if set(value) != set(names):
                raise TypeError("SUBMIT takes " + ", ".join(names))
        _call_host({_SUBMIT!r}, (value,), {{}})
        raise {_SUBMITTED}

    return {_SUBMIT}
'''


class SandboxInterpreter:
    """DSPy's `CodeInterpreter` in a sandbox, with persistent state, host tools and `SUBMIT`.

    The class is its own factory: ``interpreter_factory=SandboxInterpreter`` for `RLM`,
    `ProgramOfThought` and `CodeAct`, or a function that returns one with settings. Each instance
    has a sandbox of its own, which DSPy ends with the forward pass.

    Code that fails, takes too long or is refused raises DSPy's `CodeExecutionError`, which is
    passed to the model; a run that had to be killed loses its variables, and the error says so. A
    sandbox failure raises `CodeInterpreterError`. Tools run in this process, in the thread of
    `execute`; arguments and return values are JSON, and their time counts as the code's.

    Args:
        session: Python session of the caller that keeps variables; `shutdown` leaves it open. None
            for an own session.
        config: Settings of the own session; None for the defaults.
        backend: Backend of the own session; None picks one that isolates.
        tools: Functions of this process that the code may call, by name.
        output_fields: Fields of `SUBMIT`, a dict with a ``name`` each; None for one value.
        timeout: Seconds for each run, without the time of tools; None for the session's timeout.

    Raises:
        MissingDependencyError: The package `dspy` is not installed; raised by the import of this
            module.
        ValidationError: The session has another language, keeps no variables, or is given together
            with settings; or an argument has the wrong type.
    """

    execution_instructions = (
        "Code runs as Python in a sandbox. Variables, imports and files are kept from run to run. "
        "numpy, pandas and matplotlib can be imported. Host tools and SUBMIT are global functions; "
        "what they take and return is JSON. There is no network unless the host allows one."
    )

    def __init__(
        self,
        session: BaseSession | AsyncSession | None = None,
        *,
        config: SessionConfig | None = None,
        backend: str | Backend | None = None,
        tools: dict[str, Callable[..., Any]] | None = None,
        output_fields: list[dict[str, Any]] | None = None,
        timeout: float | None = DEFAULT_TIMEOUT_S,
    ) -> None:
        check_own_session(session, config, backend)
        self._config = config or SessionConfig()
        self._session = None if session is None else plain_session(session)
        check_interpreter(self._config if self._session is None else self._session.config)
        self._is_own = session is None
        self._backend = backend
        self._options = ToolOptions(timeout=timeout, images="none")
        self._is_over = False
        self._bound: tuple[tuple[str, ...], tuple[str, ...] | None] | None = None
        self.tools = dict(tools or {})
        """Host tools; DSPy adds its own."""
        self.output_fields = output_fields
        """What `SUBMIT` takes; DSPy sets it."""

    # --- life

    @property
    def session(self) -> BaseSession:
        """Session, created and opened on first use."""
        return self._open()

    def start(self) -> None:
        """Create the sandbox; no effect if it exists.

        Raises:
            CodeInterpreterError: The sandbox could not be created, or `shutdown` was called.
        """
        self._open()

    def _open(self) -> BaseSession:
        if self._is_over:
            raise CodeInterpreterError("the interpreter was shut down")
        if self._session is None:
            try:
                session = BaseSession.configured(self._config, backend=self._backend)
                session.open()
            except SandboxError as error:
                raise CodeInterpreterError(str(error)) from error
            self._session = session
        return self._session

    def shutdown(self) -> None:
        """End the own sandbox; a session of the caller is left open."""
        self._is_over = True
        session, self._session = self._session, None
        if session is not None and self._is_own:
            session.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        self.shutdown()

    # --- runs

    def execute(self, code: str, variables: dict[str, Any] | None = None) -> Any:
        """Run code.

        Args:
            code: Python.
            variables: Plain data to assign before, by name.

        Returns:
            `FinalOutput` if the code called `SUBMIT`; otherwise the printed output and the value of
            the last expression as text; None for nothing.

        Raises:
            CodeExecutionError: The code failed, took too long or was refused.
            SyntaxError: The code is not valid Python.
            CodeInterpreterError: The sandbox failed, or a variable is invalid.
        """
        session = self._open()
        submitted: list[object] = []
        try:
            self._prepare(session, variables or {})
            host = HostTools({**self.tools, _SUBMIT: submitted.append})

            def run() -> ExecutionResult:
                seconds = self._options.timeout
                return session.run(code, timeout=seconds, stdin=host, on_output=host.take_call)

            reply = answer(run, self._options)
        except SandboxError as error:
            raise CodeInterpreterError(str(error)) from error
        result = reply.result
        if result is None:
            raise CodeExecutionError(reply.text)
        if result.state is not StateOutcome.KEPT:
            self._bound = None
        name = None if result.error is None else result.error.name
        if name == _SUBMITTED and submitted:
            return FinalOutput(submitted[-1])
        if name in _SYNTAX:
            raise SyntaxError(reply.text)
        if result.exit_code != 0:
            raise CodeExecutionError(reply.text)
        return _words(result)

    def _prepare(self, session: BaseSession, variables: dict[str, Any]) -> None:
        fields = self.output_fields
        names = None if fields is None else tuple(str(field.get("name")) for field in fields)
        tools = tuple(self.tools)
        for name in (*tools, *(names or ()), *variables):
            if not _is_name(name):
                raise CodeInterpreterError(
                    f"{name!r} is not a valid name of a tool, a field or a variable"
                )
        taken = {_SUBMIT, *tools} & variables.keys()
        if taken:
            raise CodeInterpreterError(f"{sorted(taken)} are tools, and cannot be variables")
        if self._bound != (tools, names):
            code = f"{program(tools)}\n{_PROGRAM}\n{_SUBMIT} = _submitting({names!r})"
            done = session.run(code, timeout=self._options.timeout)
            if done.exit_code != 0:
                raise CodeInterpreterError(f"the tools cannot be defined: {done.stderr[-1000:]}")
            self._bound = (tools, names)
        for name, value in variables.items():
            session.set(name, value)


def _is_name(name: object) -> bool:
    return isinstance(name, str) and name.isidentifier() and not keyword.iskeyword(name)


def _words(result: ExecutionResult) -> str | None:
    # DSPy cuts it to the length that it shows its model.
    shown = [item.describe() for item in result.artifacts if item.mime != CALL_MIME]
    parts = [result.stdout.rstrip("\n"), result.value or "", *result.notes, *shown]
    return "\n".join(part for part in parts if part) or None
