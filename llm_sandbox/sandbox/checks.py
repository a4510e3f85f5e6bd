"""Validation of commands, environments and inputs of programs."""

import contextlib
from collections.abc import Mapping, Sequence

from llm_sandbox.backends.terminals import Terminal
from llm_sandbox.exceptions import CommandEmptyError, ValidationError
from llm_sandbox.sandbox.process import Pipe

__all__ = [
    "check_argv",
    "check_entry_terminal",
    "check_env",
    "check_flag",
    "check_stdin",
    "check_terminal",
]


def check_argv(argv: Sequence[str]) -> None:
    """Validate a command line.

    Raises:
        CommandEmptyError: The command line is empty.
        ValidationError: A word is not a text.
    """
    if not argv:
        raise CommandEmptyError
    for number, word in enumerate(argv):
        _check_text(word, f"word {number} of the command", "argv")


def check_env(name: str, env: Mapping[str, str] | None) -> dict[str, str]:
    """Return a copy of environment variables.

    Args:
        name: The parameter, for the error.
        env: Variables by name; None for none.

    Raises:
        ValidationError: A name or a value is invalid.
    """
    checked = dict(env or {})
    for key, value in checked.items():
        _check_text(key, f"a name in {name}", name)
        if not key or "=" in key:
            raise ValidationError(f"a name in {name} is empty or holds '='", parameter=name)
        _check_text(value, f"the value of {key!r} in {name}", name)
    return checked


def _check_text(text: object, what: str, parameter: str) -> None:
    if not isinstance(text, str):
        raise ValidationError(f"{what} is not text", parameter=parameter)
    if "\0" in text:
        raise ValidationError(f"{what} holds a NUL", parameter=parameter)
    with contextlib.suppress(UnicodeEncodeError):
        text.encode("utf-8", "surrogateescape")
        return
    # Not chained: the encoder's own error holds the text, which may be a secret.
    raise ValidationError(f"{what} cannot be encoded", parameter=parameter)


def check_stdin(stdin: object) -> bytes | None:
    """Return the input of a program; None if the caller writes it, or there is none.

    Raises:
        ValidationError: The input is neither text, bytes, `PIPE` nor None.
    """
    if stdin is None or isinstance(stdin, Pipe):
        return None
    if isinstance(stdin, str):
        return stdin.encode("utf-8", "surrogateescape")
    if isinstance(stdin, (bytes, bytearray, memoryview)):
        return bytes(stdin)
    raise ValidationError("invalid stdin: expected text, bytes, PIPE or None", parameter="stdin")


def check_terminal(pty: object) -> Terminal | None:
    """Return the terminal of a program; None for none.

    Raises:
        ValidationError: The value is neither a boolean nor a `Terminal`.
    """
    if isinstance(pty, Terminal):
        return pty
    if not isinstance(pty, bool):
        raise ValidationError("invalid pty: expected True, False or a Terminal", parameter="pty")
    return Terminal() if pty else None


def check_entry_terminal(pty: object, command: Sequence[str]) -> Terminal | None:
    """Return the terminal of the entry command of a sandbox; None for none.

    Args:
        pty: Value of the option.
        command: The entry command; empty without one.

    Raises:
        ValidationError: The value is neither a boolean nor a `Terminal`, or there is no entry
            command.
    """
    terminal = check_terminal(pty)
    if terminal is not None and not command:
        raise ValidationError(
            "a terminal needs an entry command",
            parameter="pty",
            hint="create it with a command; or sandbox.exec(..., pty=True)",
        )
    return terminal


def check_flag(name: str, value: object) -> bool:
    """Return a boolean.

    Raises:
        ValidationError: The value is not a boolean.
    """
    if not isinstance(value, bool):
        raise ValidationError(f"{name} is True or False", parameter=name)
    return value
