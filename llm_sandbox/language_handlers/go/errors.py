"""Error parsing for the Go toolchain and for Go programs."""

import re
from itertools import pairwise

from llm_sandbox.results.outputs import ExecutionError, TracebackFrame

__all__ = ["read_compile_error", "read_runtime_error"]

_ERROR = re.compile(
    r"^(?:\./)?(?P<file>[^\s:][^:\n]*\.go):(?P<line>\d+)(?::(?P<column>\d+))?: (?P<value>.+)$", re.M
)
_WITHOUT_LINE = re.compile(r"^(?:go: )?(?P<value>(?!# )\S.*)$", re.M)
_MORE = re.compile(r"\n\t(?P<more>[^\n]+)")
_PANIC = re.compile(r"^(?P<name>panic|fatal error): ", re.M)
_TRACE = re.compile(r"\n(?:\[signal [^\n]*\]\n)?\n(?:goroutine \d+ |runtime stack:)")
_GOROUTINE = re.compile(r"^goroutine \d+ ", re.M)
_AGAIN = re.compile(r" \[recovered[^\n]*\]\n\tpanic: ")
_PLACE = re.compile(r"\t(?P<file>[^\n\t]+\.go):(?P<line>\d+)(?: [^\n]*)?")
_MOST_FRAMES = 100


def read_compile_error(output: str, source: str) -> ExecutionError | None:
    """Parse the first error of a build.

    Args:
        output: Output of the toolchain.
        source: Name of the source file.
    """
    found = _ERROR.search(output)
    if found is None:
        found = _WITHOUT_LINE.search(output)
        if found is None:
            return None
        return ExecutionError("CompileError", found["value"], kind="compile", file=source)
    value = found["value"]
    rest = _MORE.match(output, found.end())
    while rest is not None:
        # What was had, and what was wanted.
        value += f"\n{rest['more'].strip()}"
        rest = _MORE.match(output, rest.end())
    return ExecutionError(
        "CompileError",
        value,
        line=int(found["line"]),
        kind="compile",
        column=int(found["column"]) if found["column"] else None,
        file=found["file"],
    )


def read_runtime_error(output: str, source: str) -> ExecutionError | None:
    """Parse a panic or a fatal error of the runtime, with the stack trace of its goroutine.

    Args:
        output: The end of the program's standard error.
        source: Name of the source file.
    """
    said = list(_PANIC.finditer(output))
    if not said:
        return None
    found = said[-1]
    trace = _TRACE.search(output, found.end())
    if trace is None:
        return None
    # A panic that was recovered from and raised again is told of twice.
    value = _AGAIN.split(output[found.end() : trace.start()])[-1].strip("\n")
    goroutine = _GOROUTINE.search(output, trace.start())
    frames = _frames(output[goroutine.start() :], source) if goroutine else ()
    own = [frame.line for frame in frames if frame.file == source]
    return ExecutionError(found["name"], value, frames, own[-1] if own else None)


def _frames(trace: str, source: str) -> tuple[TracebackFrame, ...]:
    first, _, _ = trace.partition("\n\n")
    lines = first.split("\n")
    frames: list[TracebackFrame] = []
    for function, place in pairwise(lines):
        found = _PLACE.fullmatch(place)
        if found is None or function.startswith("\t"):
            continue
        file = found["file"]
        own = file.rpartition("/")[2] == source and not file.startswith("/usr/")
        frames.append(TracebackFrame(source if own else file, int(found["line"]), _name(function)))
        if len(frames) == _MOST_FRAMES:
            break
    return tuple(reversed(frames))


def _name(function: str) -> str:
    if function.startswith("created by "):
        return function.removeprefix("created by ").partition(" in goroutine ")[0]
    # `main.(*Stack).Pop(0x1, ...)`: the last brackets are its arguments.
    depth = 0
    for index in range(len(function) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(function[index], 0)
        if depth == 0:
            return function[:index] or function
    return function
