"""Validation of the arguments of a session's calls."""

from collections.abc import Iterable, Iterator, Sequence

from llm_sandbox.data import StreamCallback
from llm_sandbox.exceptions import CommandEmptyError, ValidationError
from llm_sandbox.kernel.output_buffer import OutputCallback
from llm_sandbox.results.outputs import Output, StreamOutput

__all__ = [
    "check_argv",
    "check_callback",
    "check_code",
    "check_command",
    "check_entry",
    "merge_callbacks",
    "stdin_lines",
]


def check_code(code: object) -> None:
    """Refuse code that is not text.

    Raises:
        ValidationError: It is of another type.
    """
    if not isinstance(code, str):
        raise ValidationError(
            f"invalid code: expected text, got {type(code).__name__}", parameter="code"
        )


def check_callback(callback: object) -> None:
    """Refuse a callback that cannot be called.

    Raises:
        ValidationError: It is neither None nor callable.
    """
    if callback is not None and not callable(callback):
        raise ValidationError(
            f"invalid callback: expected a function, got {type(callback).__name__}",
            parameter="callback",
        )


def check_argv(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the command line that code sees, the name of its file first; empty for none.

    Raises:
        ValidationError: It is not a sequence of texts, or does not begin with a file name.
    """
    words = () if isinstance(argv, str | bytes) else tuple(argv)
    if bool(words) is not bool(argv) or not all(isinstance(word, str) for word in words):
        raise ValidationError("invalid argv: expected a list of texts", parameter="argv")
    if any("\0" in word for word in words):
        raise ValidationError(
            "invalid argv: an argument cannot hold a NUL character", parameter="argv"
        )
    if words and (words[0] in ("", ".", "..") or "/" in words[0]):
        raise ValidationError(
            f"invalid argv: expected the name of a file without a folder first, got {words[0]!r}",
            parameter="argv",
        )
    return words


def check_command(command: object) -> None:
    """Refuse a value that is not a command.

    Raises:
        CommandEmptyError: It is empty.
        ValidationError: It is neither a line for the shell nor a program and its arguments.
    """
    if command is None or (isinstance(command, str) and not command.strip()):
        raise CommandEmptyError()
    if not isinstance(command, str | list | tuple):
        raise ValidationError(
            "invalid command: expected a line for the shell, or a list of a program and its "
            f"arguments, got {type(command).__name__}",
            parameter="command",
        )


def check_entry(entry: object) -> tuple[str, str | None]:
    """Return an entry of `BaseSession.execute_commands` as a line and its directory.

    Raises:
        ValidationError: It is neither a line nor a pair of the two.
    """
    line, folder = entry if isinstance(entry, tuple) and len(entry) == 2 else (entry, None)
    if not isinstance(line, str):
        raise ValidationError(
            "invalid commands: expected lines, or pairs of a line and a directory, got "
            f"{type(entry).__name__}",
            parameter="commands",
        )
    return line, folder


def stdin_lines(stdin: str | Iterable[str] | None) -> Iterator[str] | None:
    """Return the lines that `input` reads, without line ends; None when input is refused.

    Raises:
        ValidationError: `stdin` is neither text nor an iterable.
    """
    if stdin is None:
        return None
    if isinstance(stdin, str):
        return iter(stdin.splitlines())
    try:
        return (line.removesuffix("\n") for line in stdin)
    except TypeError:
        raise ValidationError(
            f"invalid stdin: expected text or lines, got {type(stdin).__name__}", parameter="stdin"
        ) from None


def merge_callbacks(
    on_stdout: StreamCallback | None,
    on_stderr: StreamCallback | None,
    on_output: OutputCallback | None,
) -> OutputCallback | None:
    """Return one callback for every output, of the three that a run takes; None for none."""
    if on_stdout is None and on_stderr is None:
        return on_output

    def call(output: Output) -> None:
        if isinstance(output, StreamOutput):
            by_stream = on_stdout if output.name == "stdout" else on_stderr
            if by_stream is not None:
                by_stream(output.text)
        if on_output is not None:
            on_output(output)

    return call
