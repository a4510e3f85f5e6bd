"""Error parsing for Node.js and TypeScript compiler output."""

import re

from llm_sandbox.results.outputs import ExecutionError, TracebackFrame

__all__ = ["transpile_error", "uncaught_error"]

_PLACE = re.compile(r"(?P<file>(?:file://|node:)?[^\s:][^\n:]{0,2000}):(?P<line>\d{1,9})$")
_MARK = re.compile(r"[ \t]*\^+[ \t]*$")
_HEAD = re.compile(r"(?P<name>[A-Za-z_$][\w$.]{0,100})(?: \[\w{1,100}\])?(?:: (?P<value>.*))?$")
_FRAME = re.compile(
    r" {4}at (?:(?:async )?(?P<function>[^(\n]{1,500}) \()?"
    r"(?P<file>[^()\n]{1,2000}?):(?P<line>\d{1,9}):(?P<column>\d{1,9})\)?$"
)
_ENDINGS = ("Node.js v", "(Use `node ")
_LOOKED_AHEAD = 4
_DIAGNOSTIC = re.compile(
    r"(?P<file>[^(\n]{1,500})\((?P<line>\d{1,9}),(?P<column>\d{1,9})\): error (?P<value>.*)"
)


def uncaught_error(output: str, file: str) -> ExecutionError | None:
    """Parse the uncaught error that ended a program; None if the output has none.

    Node.js writes the location, the line of code with a marker below it, and then the stack.

    Args:
        output: End of the program's standard error.
        file: Path of the program.
    """
    lines = output.splitlines()
    start = next((at for at in range(len(lines) - 1, -1, -1) if _begins(lines, at)), None)
    if start is None:
        return None
    title = file.rpartition("/")[2]
    mark = next(at for at in range(start + 1, len(lines)) if _MARK.match(lines[at]))
    message, stack = _split(lines[mark + 1 :])
    frames = [frame for frame in map(_frame, stack) if frame is not None]
    own = [frame for frame in frames if frame[0].file == title]
    line, column = None, None
    if own:
        line, column = own[0][0].line, own[0][1]
    else:
        place = _PLACE.match(lines[start])
        if place is not None and place["file"].rpartition("/")[2] == title:
            line, column = int(place["line"]), lines[mark].find("^") + 1
    name, value = _read_message(message, bool(stack))
    while frames and frames[-1][0].file != title:
        frames.pop()
    return ExecutionError(
        name,
        value,
        tuple(frame for frame, _ in reversed(frames)),
        line,
        "syntax" if name == "SyntaxError" and not own else "exception",
        column,
    )


def _begins(lines: list[str], at: int) -> bool:
    if _PLACE.match(lines[at]) is None:
        return False
    return any(_MARK.match(line) for line in lines[at + 1 : at + 1 + _LOOKED_AHEAD])


def _split(lines: list[str]) -> tuple[list[str], list[str]]:
    """Return the lines of the message, and those of the stack."""
    first = next((at for at, line in enumerate(lines) if line.startswith("    at ")), len(lines))
    message = []
    for line in lines[:first]:
        if line.startswith(_ENDINGS):
            break
        message.append(line)
    while message and not message[0].strip():
        message.pop(0)
    while message and not message[-1].strip():
        message.pop()
    return message, [line for line in lines[first:] if line.startswith("    at ")]


def _read_message(lines: list[str], has_stack: bool) -> tuple[str, str]:
    found = _HEAD.match(lines[0]) if lines else None
    if found is None or (found["value"] is None and not has_stack):
        # Something that is no error was thrown.
        return "Uncaught", "\n".join(lines).removeprefix("Uncaught ")
    return found["name"], "\n".join([found["value"] or "", *lines[1:]])


def _frame(line: str) -> tuple[TracebackFrame, int] | None:
    found = _FRAME.match(line)
    if found is None:
        return None
    name = found["file"].removeprefix("file://")
    base = name.rpartition("/")[2]
    # The program's own file has no folder for its user.
    shown = base if base.startswith("main.") and "/node_modules/" not in name else name
    function = (found["function"] or "").strip()
    return TracebackFrame(shown, int(found["line"]), function), int(found["column"])


def transpile_error(output: str, file: str) -> ExecutionError | None:
    """Parse the error that `transpile.cjs` reports; None if there is none."""
    for line in output.splitlines():
        found = _DIAGNOSTIC.match(line)
        if found is not None:
            return ExecutionError(
                "SyntaxError",
                found["value"],
                line=int(found["line"]),
                kind="syntax",
                column=int(found["column"]),
                file=file.rpartition("/")[2],
            )
    return None
