"""What a caller wants to hear while something runs."""

import threading
from collections.abc import Iterable, Iterator, Sequence

from llm_sandbox.data import StreamCallback
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.kernel.output_buffer import OutputCallback
from llm_sandbox.results.outputs import Output, StreamOutput
from llm_sandbox.sandbox import Process

__all__ = ["check_argv", "follow", "listener", "stdin_lines"]


def listener(
    on_stdout: StreamCallback | None,
    on_stderr: StreamCallback | None,
    on_output: OutputCallback | None,
) -> OutputCallback | None:
    """One callback for every output, made of the three that a run takes; None when there is
    none.
    """
    if on_stdout is None and on_stderr is None:
        return on_output

    def tell(output: Output) -> None:
        if isinstance(output, StreamOutput):
            by_stream = on_stdout if output.name == "stdout" else on_stderr
            if by_stream is not None:
                by_stream(output.text)
        if on_output is not None:
            on_output(output)

    return tell


def stdin_lines(stdin: str | Iterable[str] | None) -> Iterator[str] | None:
    """The lines that `input` gets, without their ends; None when input is refused.

    Raises:
        ValidationError: It is neither text nor an iterable.
    """
    if stdin is None:
        return None
    if isinstance(stdin, str):
        return iter(stdin.splitlines())
    try:
        return (line.removesuffix("\n") for line in stdin)
    except TypeError:
        kind = type(stdin).__name__
        raise ValidationError(
            f"stdin must be text or lines, not {kind}", parameter="stdin"
        ) from None


def check_argv(argv: Sequence[str]) -> tuple[str, ...]:
    """The command line that code sees, the name of its file first; empty for none.

    Raises:
        ValidationError: It is no sequence of texts, or the first is not the name of a file alone.
    """
    words = () if isinstance(argv, str | bytes) else tuple(argv)
    if bool(words) is not bool(argv) or not all(isinstance(word, str) for word in words):
        raise ValidationError("argv must be a list of texts", parameter="argv")
    if any("\0" in word for word in words):
        raise ValidationError("no argument can hold a NUL character", parameter="argv")
    if words and (words[0] in ("", ".", "..") or "/" in words[0]):
        raise ValidationError(
            f"argv begins with the name of a file, without a folder, not {words[0]!r}",
            parameter="argv",
        )
    return words


def follow(
    process: Process, on_stdout: StreamCallback | None, on_stderr: StreamCallback | None
) -> None:
    """Call back with each piece of a process's streams until they end.

    Standard output is heard in the calling thread; standard error in one beside it when both are
    wanted.
    """
    if on_stdout is None and on_stderr is None:
        return
    failures: list[BaseException] = []

    def hear(stream: Iterable[str], callback: StreamCallback) -> None:
        try:
            for piece in stream:
                callback(piece)
        except BaseException as error:  # noqa: BLE001 - raised in the calling thread below
            failures.append(error)

    beside = None
    if on_stderr is not None:
        errors = process.stderr.chunks()
        beside = threading.Thread(target=hear, args=(errors, on_stderr), daemon=True)
        beside.start()
    if on_stdout is not None:
        hear(process.stdout.chunks(), on_stdout)
    if beside is not None:
        beside.join()
    if failures:
        process.kill()
        raise failures[0]
