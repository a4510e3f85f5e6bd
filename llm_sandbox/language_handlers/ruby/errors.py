"""What Ruby says when a program fails, as data."""

import re

from llm_sandbox.results.outputs import ExecutionError

__all__ = ["FILE", "read_error"]

FILE = "main.rb"
"""What a program is called in Ruby's words."""

_RAISED = re.compile(
    r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d{1,9}):in [`'][^\n]*?': (?P<value>[^\n]*)"
    r" \((?P<name>[A-Z][A-Za-z0-9_:]*)\)$",
    re.MULTILINE,
)
_RAISED_LONG = re.compile(
    r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d{1,9}):in [`'][^\n]*?': (?P<value>[^\n]*)"
    r"(?P<more>(?:\n(?!\t)[^\n]*){0,20}?) \((?P<name>[A-Z][A-Za-z0-9_:]*)\)$",
    re.MULTILINE,
)
_FROM = re.compile(rf"^\tfrom {re.escape(FILE)}:(\d{{1,9}}):", re.MULTILINE)
_SYNTAX = re.compile(
    rf"^(?:[^\n]*: )?{re.escape(FILE)}:(\d{{1,9}}): ?"
    r"((?:syntax error|[^\n]*\(SyntaxError\))[^\n]*)",
    re.MULTILINE,
)


def read_error(output: str) -> ExecutionError | None:
    """Read the uncaught exception that ended a program; None where there is none.

    Args:
        output: The end of its standard error.
    """
    if found := _SYNTAX.search(output):
        value = found[2].removesuffix(" (SyntaxError)")
        return ExecutionError("SyntaxError", value, line=int(found[1]), kind="syntax")
    found = next(_RAISED.finditer(output), None) or next(_RAISED_LONG.finditer(output), None)
    if found is None:
        return None
    line: int | None = int(found["line"])
    if found["file"] != FILE:
        source = _FROM.search(output, found.end())
        line = int(source[1]) if source else None
    return ExecutionError(found["name"], found["value"], line=line)
