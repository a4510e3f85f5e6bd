"""The command line, called in this process."""

from __future__ import annotations

import contextlib
import io
import sys

from llm_sandbox.cli.app import app
from llm_sandbox.cli.grammar import run

__all__ = ["invoke"]


def invoke(*words: str, given: str | None = None) -> tuple[int, str]:
    """Exit code and output, both streams as one, of a command.

    Args:
        words: What is typed.
        given: Its standard input; None for an empty one.
    """
    said = io.StringIO()
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO((given or "").encode()))
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            run(app, words)
    except SystemExit as ended:
        return int(ended.code or 0), said.getvalue()
    finally:
        sys.stdin = before
