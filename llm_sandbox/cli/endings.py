"""How a command ends: which exit code an error has, and how it is told."""

import contextlib
import json
import signal
from collections.abc import Iterator
from typing import NoReturn

import typer

from llm_sandbox.cli.render import in_option_words, say
from llm_sandbox.const import StateOutcome
from llm_sandbox.data import SCHEMA, ExecutionResult
from llm_sandbox.exceptions import ConfigurationError, MissingDependencyError, SandboxError

__all__ = [
    "INTERRUPTED",
    "PIPE_CLOSED",
    "REFUSED",
    "SANDBOX_FAILED",
    "TIMED_OUT",
    "USAGE",
    "exit_codes",
    "explain_end",
    "usage_error",
]

USAGE = 2
TIMED_OUT = 124
SANDBOX_FAILED = 125
REFUSED = 126
INTERRUPTED = 130
PIPE_CLOSED = 141


def usage_error(message: str, hint: str | None = None) -> NoReturn:
    """Say what is wrong with the command line, and exit."""
    say(message, hint)
    raise typer.Exit(USAGE)


@contextlib.contextmanager
def exit_codes(*, as_json: bool = False) -> Iterator[None]:
    """Turn the errors of the library into one line, a hint and an exit code.

    Args:
        as_json: Whether stdout gets the error as a JSON document, of the type ``error``.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    except SandboxError as error:
        say(error.message, error.hint)
        if as_json:
            print(json.dumps({"schema": SCHEMA, "type": "error", "error": error.to_dict()}))
        mistaken = isinstance(error, ConfigurationError) and not isinstance(error, MissingDependencyError)
        raise typer.Exit(USAGE if mistaken else SANDBOX_FAILED) from None


def explain_end(result: ExecutionResult, memory_bytes: int, timeout: float | None = None) -> list[str]:
    """Say why a run ended badly where the program itself could not, and what of it is missing.

    Args:
        result: The run's result.
        memory_bytes: The memory that the sandbox had.
        timeout: The seconds that the run had.

    Returns:
        Sentences; empty when there is nothing to say.
    """
    sentences = []
    if result.timed_out:
        sentences.append(f"stopped after {timeout:g} s (--timeout)" if timeout else "stopped: its time was up")
    elif result.oom_killed:
        sentences.append(f"killed at the memory limit of {memory_bytes >> 20} MiB; --memory sets another")
    elif result.signal is not None:
        sentences.append(f"the program was ended by {_signal_name(result.signal)}")
    for name in ("stdout", "stderr"):
        if getattr(result, f"{name}_truncated"):
            sentences.append(f"{name} was longer than what is kept, and has been cut")
    if result.dropped_outputs:
        sentences.append(f"{result.dropped_outputs} displays were over the limits, and were left out")
    sentences.extend(in_option_words(note) for note in result.notes)
    return sentences


def about_the_session(result: ExecutionResult) -> int:
    """How many of a result's first notes concern runs that follow, of which a single run has none."""
    return 0 if result.state is StateOutcome.KEPT else 1


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
