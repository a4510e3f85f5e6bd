"""Error parsing for javac output and for Java programs."""

import re

from llm_sandbox.results.outputs import ExecutionError, TracebackFrame

__all__ = ["read_compiler", "read_trace"]

_ERROR = re.compile(r"^(?P<file>[^\n:]+):(?P<line>\d+): error: (?P<message>[^\n]*)$", re.MULTILINE)
_SYMBOL = re.compile(r"^\s+symbol:\s*(\S[^\n]*)$", re.MULTILINE)
_BARE = re.compile(r"^error: ([^\n]*)$", re.MULTILINE)
_THROWN = re.compile(
    r'^Exception (?:in thread "[^"\n]*" )?(?P<name>[\w.$]+)(?::[ ]?(?P<value>[^\n]*))?$',
    re.MULTILINE,
)
_FRAME = re.compile(r"^\s+at (?P<where>[^\n(]*)\((?P<place>[^\n)]*)\)$")
_LAUNCHER = re.compile(r"^Error: ([^\n]*)$", re.MULTILINE)
_MOST_FRAMES = 200


def read_compiler(output: str, file: str) -> ExecutionError | None:
    """Parse the first error of the compiler; None if there is none.

    Args:
        output: Output of the compiler.
        file: Name of the source file, as the compiler calls it.
    """
    found = _ERROR.search(output)
    if found is None:
        bare = _BARE.search(output)
        return None if bare is None else ExecutionError("CompileError", bare[1], kind="compile")
    rest = output[found.end() :]
    following = _ERROR.search(rest)
    about = rest[: following.start()] if following else rest
    message = found["message"].strip()
    symbol = _SYMBOL.search(about)
    if symbol is not None:
        message = f"{message}: {re.sub(r' +', ' ', symbol[1].strip())}"
    return ExecutionError(
        "CompileError",
        message,
        line=int(found["line"]),
        kind="compile",
        column=_column(about),
        file=None if found["file"] == file else found["file"],
    )


def _column(about: str) -> int | None:
    for line in about.split("\n"):
        if line.strip() == "^":
            return line.index("^") + 1
    return None


def read_trace(output: str, file: str) -> ExecutionError | None:
    """Parse the last uncaught exception in a program's output; None if there is none.

    Args:
        output: End of the program's standard error.
        file: Name of the source file.
    """
    starts = list(_THROWN.finditer(output))
    if not starts:
        refused = _LAUNCHER.search(output)
        return None if refused is None else ExecutionError("LaunchError", refused[1])
    # The main thread's is why the program failed; it is the last one that is printed or the only.
    of_main = [found for found in starts if 'in thread "main"' in found[0]]
    found = (of_main or starts)[-1]
    value, frames = [found["value"] or ""], []
    for line in output[found.end() + 1 :].split("\n"):
        frame = _FRAME.match(line)
        if frame is not None:
            frames.append(_frame(frame))
        elif frames or not line:
            break
        else:
            value.append(line)  # a message of several lines
    place = next((f.line for f in frames if f.file == file and f.line is not None), None)
    return ExecutionError(
        found["name"],
        "\n".join(value),
        frames=tuple(reversed(frames[:_MOST_FRAMES])),
        line=place,
    )


def _frame(found: re.Match[str]) -> TracebackFrame:
    name, _, number = found["place"].rpartition(":")
    if not number.isdigit():
        return TracebackFrame(found["place"], function=found["where"])
    return TracebackFrame(name, int(number), function=found["where"])
