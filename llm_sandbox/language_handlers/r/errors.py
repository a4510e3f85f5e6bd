"""What R says of an error, as data."""

import re

from llm_sandbox.results.outputs import ExecutionError

__all__ = ["read_error"]

_BEGIN = re.compile(
    r"^Error(?: in (?P<call>[^\n]{0,1000}?) ?)?:(?P<value>[ \n][^\n]*)$", re.MULTILINE
)
_END = re.compile(
    r"^(?:Traceback:$|At \S+:\d+: |Calls: |Execution halted|In addition: |Warning messages?:)",
    re.MULTILINE,
)
_AT = re.compile(r"^At (?P<file>[^\n:]{1,300}):(?P<line>[0-9]{1,9}): ", re.MULTILINE)
_SYNTAX = re.compile(r"unexpected \S|invalid (?:token|multibyte)|unexpected end of input")


def read_error(output: str, name: str) -> ExecutionError | None:
    """Read the last error that R has reported; None where it has reported none.

    Args:
        output: The end of a program's standard error.
        name: Name of the program's file.
    """
    reported = list(_BEGIN.finditer(output))
    if not reported:
        return None
    found = reported[-1]
    rest = output[found.start("value") :]
    end = _END.search(rest)
    value = rest[: end.start() if end else len(rest)].strip()
    syntax = found["call"] is None and _SYNTAX.match(value) is not None
    if syntax:
        return ExecutionError("SyntaxError", value.partition("\n")[0], kind="syntax")
    at = _AT.search(rest)
    line = int(at["line"]) if at and at["file"] == name else None
    return ExecutionError("Error", value, line=line)
