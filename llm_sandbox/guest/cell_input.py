"""What a cell reads as its standard input."""

import io
from typing import Any

NO_INPUT = "EOF when reading a line"
"""What `input` says in a script whose standard input is at its end."""


class InputStream(io.TextIOBase):
    """`sys.stdin` of a cell: lines of the run's ``stdin=``, as `input` gets them."""

    encoding = "utf-8"

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 0

    def readline(self, size: int = -1) -> str:  # type: ignore[override]
        if not self._kernel._allow_stdin:
            return ""
        try:
            return str(self._kernel._input_request("", [], self._kernel.get_parent("shell"))) + "\n"
        except EOFError:
            return ""

    def read(self, size: int | None = -1) -> str:
        return "".join(iter(self.readline, ""))
