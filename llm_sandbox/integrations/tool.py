"""Session as a tool: description for a model, options, answers."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import (
    LibraryInstallationError,
    SandboxError,
    SandboxTimeoutError,
    SecurityViolationError,
    ValidationError,
)
from llm_sandbox.limits import DEFAULT_TIMEOUT_S, validate_timeout
from llm_sandbox.network import Network, rules_of
from llm_sandbox.session.session import BaseSession
from llm_sandbox.views.content_parts import Shape, text_part

__all__ = [
    "DEFAULT_NAME",
    "DEFAULT_READER",
    "PARAMETERS",
    "ToolOptions",
    "ToolReply",
    "answer",
    "answer_async",
    "check_options",
    "describe_session",
    "refuse_arguments",
    "words_only",
]

DEFAULT_NAME = "run_code"
"""Default name of the tool."""
DEFAULT_READER = "read_output"
"""Default name of the tool that reads omitted parts of answers."""

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "code": {"type": "string", "description": "source code"},
        "libraries": {
            "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}],
            "default": None,
            "description": "names of libraries to install first",
        },
    },
    "required": ["code"],
    "additionalProperties": False,
}
"""Parameters of the tool as JSON schema."""

_Images = Literal["auto", "none", "inline"]
_MOST_NAMES = 20
_SHOWS = {
    "python": "Figures of matplotlib, seaborn, plotly and others come back as images: show them.",
    "r": "Plots come back as images.",
}


@dataclass(frozen=True)
class ToolOptions:
    """Options of a tool.

    Raises:
        ValidationError: A value is invalid.
    """

    name: str = DEFAULT_NAME
    """Name of the tool for the model."""
    description: str | None = None
    """Description for the model; None for a description of the session."""
    timeout: float | None = DEFAULT_TIMEOUT_S
    """Seconds for each run; None for the session's timeout, which is none by default."""
    max_tokens: int = 2000
    """Maximum number of tokens of an answer."""
    images: _Images = "auto"
    """Images in answers; see `ExecutionResult.for_llm`."""
    reader: str | None = DEFAULT_READER
    """Name of the second tool, which reads omitted parts of answers, in integrations that offer it;
    None for no such tool.
    """

    def __post_init__(self) -> None:
        # Here, and not at the first call: a model can do nothing about them.
        from llm_sandbox.views.llm import SMALLEST_BUDGET

        if not _is_name(self.name):
            raise ValidationError(
                "the name of a tool has letters, digits, _ and - only, at most 64",
                parameter="name",
            )
        if self.reader is not None and (not _is_name(self.reader) or self.reader == self.name):
            raise ValidationError(
                "the reader's name has letters, digits, _ and - only, at most 64, and is not the "
                "tool's own",
                parameter="reader",
            )
        object.__setattr__(self, "timeout", validate_timeout(self.timeout))
        if type(self.max_tokens) is not int or self.max_tokens < SMALLEST_BUDGET:
            raise ValidationError(
                f"max_tokens must be a whole number from {SMALLEST_BUDGET}", parameter="max_tokens"
            )
        if self.images not in get_args(_Images):
            known = ", ".join(get_args(_Images))
            raise ValidationError(
                f"images is one of {known}, not {self.images!r}", parameter="images"
            )


def words_only(options: ToolOptions | None, framework: str) -> ToolOptions:
    """Return the options of a tool whose framework takes no images from tools.

    Args:
        options: Given options; None for the defaults.
        framework: Name of the framework, as the subject of a sentence.

    Raises:
        ValidationError: Images are requested, or the argument has the wrong type.
    """
    options = check_options(options)
    if options.images == "inline":
        raise ValidationError(
            f"{framework} takes no images from a tool",
            parameter="images",
            hint='ToolOptions(images="none"); the figures are in session.history',
        )
    return replace(options, images="none")


def check_options(options: object) -> ToolOptions:
    """Return the options of a tool, or the defaults for None.

    Raises:
        ValidationError: The argument has the wrong type.
    """
    if options is None:
        return ToolOptions()
    if isinstance(options, ToolOptions):
        return options
    raise ValidationError(
        f"the options of a tool are ToolOptions, not {type(options).__name__}",
        parameter="options",
        hint="from llm_sandbox.integrations.tool import ToolOptions",
    )


def _is_name(name: object) -> bool:
    return isinstance(name, str) and re.fullmatch("[A-Za-z0-9_-]{1,64}", name) is not None


@dataclass(frozen=True)
class ToolReply:
    """Answer for a model."""

    result: ExecutionResult | None
    """Result of the run; None if nothing was run."""
    refusal: str | None
    """Reason for the model why nothing was run; None if code was run."""
    options: ToolOptions
    reader: str | None = None
    """Name of the tool that reads omitted parts; None for none."""
    page: str | None = None
    """Page of an earlier answer; None for a run of code."""

    def parts(self, shape: Shape = "openai") -> list[dict[str, Any]]:
        """Return the answer as content parts; see `ExecutionResult.for_llm`."""
        if self.result is None:
            return [text_part(self.page or self.refusal or "nothing was run", shape)]
        return self.result.for_llm(
            self.options.max_tokens, images=self.options.images, shape=shape, reader=self.reader
        )

    @property
    def text(self) -> str:
        """Text of the answer."""
        return "\n".join(part["text"] for part in self.parts() if "text" in part)

    @property
    def failed(self) -> bool:
        """Whether the code was refused or failed."""
        if self.page is not None:
            return False
        return self.result is None or self.result.exit_code != 0


def answer(
    run: Callable[[], ExecutionResult], options: ToolOptions, *, reader: str | None = None
) -> ToolReply:
    """Run code and return the answer for the model.

    Failures that a model can react to are answers: code that fails, takes too long or is refused,
    libraries that cannot be installed. Other failures are raised.

    Args:
        run: Function that runs the code.
        options: Options of the tool.
        reader: Name of the tool that reads omitted parts; None for none.

    Raises:
        SandboxError: The sandbox itself failed.
    """
    try:
        return ToolReply(run(), None, options, reader)
    except SandboxError as error:
        return _answer_error(error, options, reader)


async def answer_async(
    run: Callable[[], Awaitable[ExecutionResult]],
    options: ToolOptions,
    *,
    reader: str | None = None,
) -> ToolReply:
    """Run code on a session's awaitable twin and return the answer; see `answer`."""
    try:
        return ToolReply(await run(), None, options, reader)
    except SandboxError as error:
        return _answer_error(error, options, reader)


def _answer_error(error: SandboxError, options: ToolOptions, reader: str | None) -> ToolReply:
    if isinstance(error, SandboxTimeoutError) and isinstance(error.result, ExecutionResult):
        return ToolReply(error.result, None, options, reader)
    if isinstance(error, SecurityViolationError):
        words = error.report.message_for_model() if error.report is not None else str(error)
        return ToolReply(None, words, options)
    if isinstance(error, LibraryInstallationError | ValidationError):
        hint = f" ({error.hint})" if error.hint else ""
        return ToolReply(None, f"Nothing was run: {error.message}{hint}", options)
    raise error


def refuse_arguments(problem: object) -> str:
    """Return the answer to a call with invalid arguments.

    Args:
        problem: Description of the error, as part of a sentence.
    """
    return f"Nothing was run: {problem}. Send an object with code and libraries."


def describe_session(session: BaseSession, options: ToolOptions) -> str:
    """Return a description of the session for the model."""
    if options.description is not None:
        return options.description
    config = session.config
    lang = str(config.lang)
    kept = (
        "Variables and files are kept from call to call."
        if config.persistent
        else "Every call is a program of its own; files are kept."
    )
    limits = config.limits
    sentences = [
        f"Runs {lang} code in a sandbox and returns what it printed, its error and its figures.",
        kept,
        f"The working directory is {config.workdir}; files written there are reported.",
        _network_sentence(config.network),
        f"Memory: {limits.memory_bytes >> 20} MiB.",
    ]
    timeout = config.run_timeout(options.timeout)
    if timeout is not None:
        sentences.append(f"A call may take {timeout:g} seconds, and is stopped then.")
    if lang in _SHOWS:
        sentences.append(_SHOWS[lang])
    return " ".join(sentences)


def _network_sentence(network: Network) -> str:
    rules = rules_of(network)
    if rules is None:
        return "There is no network." if network == "blocked" else "The network can be used."
    names = [name for name, _ in rules.hosts]
    reached = [
        *(["public addresses"] if rules.public else ()),
        *rules.domains,
        *names,
        *rules.cidrs,
    ]
    if not reached:
        return "There is no network."
    more = " and others" if len(reached) > _MOST_NAMES else ""
    return f"Of the network, only this can be reached: {', '.join(reached[:_MOST_NAMES])}{more}."
