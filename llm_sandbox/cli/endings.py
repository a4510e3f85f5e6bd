"""How a command ends: which exit code an error has, and how it is told."""

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from typing import NoReturn

import typer

from llm_sandbox.cli.render import say
from llm_sandbox.data import SCHEMA, ExecutionResult
from llm_sandbox.exceptions import (
    ConfigurationError,
    MissingDependencyError,
    SandboxError,
    SecurityViolationError,
)
from llm_sandbox.host.guest_numbers import GuestSignal, signal_name

__all__ = [
    "INTERRUPTED",
    "PIPE_CLOSED",
    "REFUSED",
    "SANDBOX_FAILED",
    "TIMED_OUT",
    "USAGE",
    "exit_codes",
    "explain_end",
    "leave_unwritable",
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
        raise typer.Exit(_exit_code(error)) from None


def _exit_code(error: SandboxError) -> int:
    if isinstance(error, SecurityViolationError):
        return REFUSED
    if isinstance(error, ConfigurationError) and not isinstance(error, MissingDependencyError):
        return USAGE
    return SANDBOX_FAILED


def explain_end(
    result: ExecutionResult,
    memory_bytes: int,
    *,
    timeout: float | None = None,
    is_last: bool = False,
) -> list[str]:
    """Say why a run ended badly where the program itself could not, and what of it is missing.

    Args:
        result: The run's result.
        memory_bytes: The memory that the sandbox had.
        timeout: The seconds that the run had.
        is_last: Whether no other run follows, so that nobody needs to know about the interpreter.

    Returns:
        Sentences; empty when there is nothing to say.
    """
    sentences = []
    if result.timed_out:
        sentences.append(
            f"stopped after {timeout:g} s (--timeout)" if timeout else "stopped: its time was up"
        )
    elif result.oom_killed:
        size = memory_bytes >> 20
        sentences.append(f"killed at the memory limit of {size} MiB; --memory sets another")
    elif result.signal not in (None, GuestSignal.SIGINT):
        sentences.append(f"the program was ended by {signal_name(result.signal or 0)}")
    if result.dropped_bytes:
        size = result.dropped_bytes
        sentences.append(f"{size} bytes of output were over the limit, and have been left out")
    if result.dropped_outputs:
        count = result.dropped_outputs
        sentences.append(f"{count} displays were over the limits, and have been left out")
    sentences.extend(
        note for note in result.notes if not (is_last and note.startswith("The interpreter was"))
    )
    return sentences


def leave_unwritable(failure: OSError) -> int:
    """Give up on stdout, and return the exit code that says why."""
    # Python writes what it still holds at exit, and would complain again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(failure, BrokenPipeError):
        return PIPE_CLOSED
    say(f"cannot write the program's output: {failure.strerror}")
    return SANDBOX_FAILED
