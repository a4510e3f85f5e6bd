"""Error parsing for g++ output and for C++ programs."""

import re

from llm_sandbox.results.outputs import ExecutionError

__all__ = ["read_compile_error", "read_runtime_error"]

_ERROR = re.compile(
    r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?:(?P<column>\d+):)? (?:fatal )?error: "
    r"(?P<value>.+)$",
    re.MULTILINE,
)
_FROM_HERE = r"^{source}:(?P<line>\d+):(?P<column>\d+):   required from "
_LINKER = re.compile(
    r"^[^\n]*?(?::(?P<line>\d+): )?"
    r"(?P<value>(?:undefined reference to|multiple definition of|cannot find) [^\n]+)$",
    re.MULTILINE,
)
_DRIVER = re.compile(r"^(?:g\+\+|cc1plus|as|collect2): (?:fatal )?error: (?P<value>.+)$", re.M)
_SECTION = re.compile(r"\(\.[^\s()]*\): ?")

_THROWN = re.compile(
    r"^terminate called after throwing an instance of '(?P<name>[^\n]+)'$"
    r"(?:\n  what\(\):  (?P<value>[\s\S]*))?",
    re.MULTILINE,
)
_ASSERTION = re.compile(
    r"^[^\n:]*: (?P<file>[^\n:]+):(?P<line>\d+): [^\n]*?: Assertion [`'](?P<value>[^\n]*)'"
    r" failed\.$",
    re.MULTILINE,
)
_CHECKED = re.compile(
    r"^(?P<file>[^\n:]+):(?P<line>\d+): [^\n]*: Assertion '(?P<value>[^\n]*)' failed\.$", re.M
)
_ABORTED = re.compile(
    r"^(?:\*\*\* )?(?P<value>stack smashing detected|buffer overflow detected"
    r"|terminate called [^\n]*|pure virtual method called"
    r"|double free or corruption[^\n]*|corrupted [^\n]*"
    r"|(?:free|malloc|realloc|munmap_chunk|malloc_consolidate)\(\): [^\n]*)",
    re.MULTILINE,
)


def read_compile_error(output: str, source: str) -> ExecutionError | None:
    """Parse the first error of a compilation.

    Args:
        output: Output of the compiler and the linker.
        source: Name of the source file.
    """
    found = _ERROR.search(output)
    if found is not None:
        place, file = found, found["file"]
        if file != source:
            # Of a template, what counts is where the program asked for it.
            pattern = re.compile(_FROM_HERE.format(source=re.escape(source)), re.MULTILINE)
            asked = list(pattern.finditer(output, 0, found.start()))
            if asked:
                place, file = asked[-1], source
        return ExecutionError(
            "CompileError",
            found["value"],
            line=int(place["line"]),
            kind="compile",
            column=int(place["column"]) if place["column"] else None,
            file=file,
        )
    found = _LINKER.search(output)
    if found is not None:
        return ExecutionError(
            "LinkError",
            _SECTION.sub("", found["value"]),
            line=int(found["line"]) if found["line"] else None,
            kind="compile",
            file=source,
        )
    found = _DRIVER.search(output)
    if found is not None:
        return ExecutionError("CompileError", found["value"], kind="compile", file=source)
    return None


def read_runtime_error(output: str, source: str) -> ExecutionError | None:
    """Parse the message of a program that was aborted.

    Args:
        output: End of the program's standard error.
        source: Name of the source file.
    """
    last = None
    for pattern in (_THROWN, _ASSERTION, _CHECKED, _ABORTED):
        for found in pattern.finditer(output):
            if last is None or found.start() > last.start():
                last = found
    if last is None:
        return None
    if last.re is _THROWN:
        return ExecutionError(last["name"], (last["value"] or "").rstrip("\n"))
    if last.re is _ABORTED:
        return ExecutionError("abort", last["value"])
    own = last["file"] == source
    value = f"Assertion '{last['value']}' failed"
    return ExecutionError(
        "assert", value, line=int(last["line"]) if own else None, file=None if own else last["file"]
    )
