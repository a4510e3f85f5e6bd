"""Programs of the chart corpus that end badly after their figures were made."""

import ast

__all__ = ["ENDINGS", "MARK", "end_badly"]

MARK = "-- the figures are made --"
"""Text that a program prints before its bad ending."""

_SHOW = """
import sys as _sys
if "matplotlib.pyplot" in _sys.modules:
    _sys.modules["matplotlib.pyplot"].show()
"""
ENDINGS = {
    "an exception": "raise RuntimeError('the end')",
    "a timeout": "while True: pass",
    # Nothing can be asked of a process that is gone: what is counted is what it had shown.
    "a kill": f"{_SHOW}\nimport os as _os\n_os.kill(_os.getpid(), 9)",
}
"""Code of each ending, by its name in the table."""


def end_badly(program: str, ending: str) -> str:
    """Return a program that does the same and then ends in another way.

    A last expression, which would be shown for being the last, is shown before the ending.
    """
    return f"{_show_last(program)}\nprint({MARK!r}, flush=True)\n{ENDINGS[ending]}\n"


def _show_last(program: str) -> str:
    last = ast.parse(program).body[-1]
    if not isinstance(last, ast.Expr) or program.rstrip().endswith(";"):
        return program
    source = program.encode()
    lines = source.splitlines(keepends=True)
    start = sum(map(len, lines[: last.lineno - 1])) + last.col_offset
    end = sum(map(len, lines[: (last.end_lineno or 0) - 1])) + (last.end_col_offset or 0)
    value = source[start:end].decode()
    shown = f"_shown = (\n{value}\n)\nif _shown is not None: display(_shown)"
    return source[:start].decode() + shown + source[end:].decode()
