"""Exit codes of commands, and error messages on stderr."""

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, NoReturn

from llm_sandbox.cli.grammar import USAGE, close_to
from llm_sandbox.cli.render import say
from llm_sandbox.host.guest_numbers import GuestSignal, signal_name

if TYPE_CHECKING:
    from llm_sandbox.data import ExecutionResult
    from llm_sandbox.exceptions import SandboxError

__all__ = [
    "INTERRUPTED",
    "NOT_EXECUTABLE",
    "NOT_FOUND",
    "NO_PROGRAM",
    "PIPE_CLOSED",
    "REFUSED",
    "SANDBOX_FAILED",
    "USAGE",
    "exit_codes",
    "explain_end",
    "leave_unwritable",
    "not_found",
    "say_error",
    "usage_error",
]

SANDBOX_FAILED = 125
NOT_FOUND = SANDBOX_FAILED
"""Exit code for a sandbox, snapshot, volume or secret that does not exist."""
REFUSED = 126
NOT_EXECUTABLE = 126
NO_PROGRAM = 127
"""Exit code of `exec` and `start` for a missing program, as in a shell."""
INTERRUPTED = 130
PIPE_CLOSED = 141


def usage_error(message: str, hint: str | None = None) -> NoReturn:
    """Print a mistake on the command line, and exit."""
    say(message, hint)
    raise SystemExit(USAGE)


def not_found(message: str, hint: str | None = None) -> NoReturn:
    """Print that a named object does not exist, and exit."""
    say(message, hint)
    raise SystemExit(NOT_FOUND)


@contextlib.contextmanager
def exit_codes(*, as_json: bool = False) -> Iterator[None]:
    """Turn the errors of the library into one line, a hint and an exit code.

    Args:
        as_json: Whether to print the error to stdout as a JSON document of the type ``error``.
    """
    from llm_sandbox.exceptions import SandboxError

    try:
        yield
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
    except SandboxError as error:
        say_error(error)
        if as_json:
            from llm_sandbox.data import SCHEMA

            print(json.dumps({"schema": SCHEMA, "type": "error", "error": error.to_dict()}))
        raise SystemExit(_exit_code(error)) from None


def say_error(error: "SandboxError") -> None:
    """Print an error and its hint."""
    say(error.message, "; ".join(filter(None, (_guess(error), error.hint))) or None)


def _guess(error: "SandboxError") -> str | None:
    """Return a hint with the name that may have been meant."""
    from llm_sandbox.exceptions import LanguageNotSupportedError, UnsupportedBackendError

    if isinstance(error, LanguageNotSupportedError):
        from llm_sandbox.language_handlers import registry

        return close_to(error.language, registry.available())
    if isinstance(error, UnsupportedBackendError):
        from llm_sandbox.backends.registry import available_names

        return close_to(str(error.backend), available_names())
    return None


def _exit_code(error: "SandboxError") -> int:
    from llm_sandbox.exceptions import (
        ConfigurationError,
        LaunchError,
        MissingDependencyError,
        SecurityViolationError,
    )

    if isinstance(error, SecurityViolationError):
        return REFUSED
    if isinstance(error, LaunchError):
        launch = {"not_found": NO_PROGRAM, "not_executable": NOT_EXECUTABLE}
        return launch.get(error.kind, SANDBOX_FAILED)
    if isinstance(error, ConfigurationError) and not isinstance(error, MissingDependencyError):
        return USAGE
    return SANDBOX_FAILED


def explain_end(
    result: "ExecutionResult",
    memory_bytes: int,
    *,
    timeout: float | None = None,
    by_default: bool = False,
    is_last: bool = False,
) -> list[str]:
    """Explain why a run ended badly where the program itself could not, and which of its results
    are missing.

    Args:
        result: The run's result.
        memory_bytes: Memory limit of the sandbox.
        timeout: Time limit of the run in seconds.
        by_default: Whether the time limit is the default.
        is_last: Whether no other run follows, so that the state of the interpreter does not matter.

    Returns:
        Sentences; empty when there is nothing to say.
    """
    sentences = []
    if result.timed_out:
        named = (
            "the default; --timeout S sets another, and none none" if by_default else "--timeout"
        )
        sentences.append(
            f"stopped after {timeout:g} s ({named})" if timeout else "stopped: its time was up"
        )
    elif result.oom_killed:
        size = memory_bytes >> 20
        sentences.append(f"killed at the memory limit of {size} MiB; --memory sets another")
    elif result.signal not in (None, GuestSignal.SIGINT):
        sentences.append(f"the program was ended by {signal_name(result.signal or 0)}")
    if result.dropped_bytes:
        size = result.dropped_bytes
        sentences.append(
            f"{size} bytes of output were over the limit, and have been left out; --output-limit "
            "sets another"
        )
    if result.dropped_outputs:
        count = result.dropped_outputs
        sentences.append(f"{count} displays were over the limits, and have been left out")
    sentences.extend(
        note for note in result.notes if not (is_last and note.startswith("The interpreter was"))
    )
    return sentences


def leave_unwritable(failure: OSError) -> int:
    """Stop writing to stdout, and return the exit code for the failure."""
    # Python writes what it still holds at exit, and would complain again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(failure, BrokenPipeError):
        return PIPE_CLOSED
    say(f"cannot write the program's output: {failure.strerror}")
    return SANDBOX_FAILED
