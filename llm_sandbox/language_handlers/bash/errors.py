"""What Bash says when a script fails, as data."""

import re

from llm_sandbox.results.outputs import ExecutionError

__all__ = ["read_error"]

_SAID = re.compile(r"^main\.sh: (?:eval: )?line (\d{1,9}): (.*)$", re.MULTILINE)
_SYNTAX = ("syntax error", "unexpected EOF", "unexpected end of file")


def read_error(output: str) -> ExecutionError | None:
    """Read the shell's last complaint about a script; None where there is none.

    Args:
        output: The end of its standard error.
    """
    last: ExecutionError | None = None
    for found in _SAID.finditer(output):
        line, value = int(found[1]), found[2]
        if any(words in value for words in _SYNTAX):
            # What follows is the line itself.
            return ExecutionError("SyntaxError", value, line=line, kind="syntax")
        last = ExecutionError("BashError", value, line=line)
    return last
