"""Source text of programs, the language of each file, and the input that programs read."""

import os
import re
import select
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from llm_sandbox.cli.exit_codes import usage_error
from llm_sandbox.cli.grammar import UsageError

__all__ = [
    "LANGUAGES",
    "language_of",
    "read_code",
    "read_input",
    "source_language",
    "split_file_option",
]

LANGUAGES = {
    ".py": "python",
    ".ipynb": "python",
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".ts": "typescript",
    ".mts": "typescript",
    ".jsx": "javascript",
    ".java": "java",
    ".c": "cpp",
    ".h": "cpp",
    ".cpp": "cpp",
    ".cc": "cpp",
    ".hpp": "cpp",
    ".go": "go",
    ".rb": "ruby",
    ".r": "r",
    ".sh": "bash",
    ".bash": "bash",
}
"""Language by file name extension, with its dot."""
_INTERPRETERS = {
    "python": "python",
    "pypy": "python",
    "node": "javascript",
    "ruby": "ruby",
    "rscript": "r",
    "bash": "bash",
    "sh": "bash",
    "dash": "bash",
}
_SHEBANG = re.compile(
    rb"#![ \t]*(?:\S*/env[ \t]+(?:-S[ \t]+)?)?(?:\S*/)?([A-Za-z]+)[\d.]*(?:\s|\Z)"
)
_READ = 65536


def language_of(path: Path) -> str | None:
    """Return the language by a file's name, else by its first line; None if it is not code."""
    lang = LANGUAGES.get(path.suffix.lower())
    if lang is not None or not path.is_file():
        return lang
    with path.open("rb") as file:
        first = file.readline(200)
    found = _SHEBANG.match(first)
    return _INTERPRETERS.get(found[1].decode("ascii").lower()) if found else None


def source_language(path: Path) -> str:
    """Return the language of a file to run; Python if its name does not say.

    Raises:
        UsageError: The name is that of something other than code.
    """
    if path.suffix.lower() == ".ipynb":
        raise UsageError(
            f"{path} is a notebook, not a program",
            "llm-sandbox kernelspec install, then nbconvert or papermill runs it in a sandbox",
        )
    lang = language_of(path)
    if lang is None and path.suffix and path.is_file():
        known = ", ".join(name for name in LANGUAGES if name != ".ipynb")
        raise UsageError(
            f"cannot tell the language of {path} by its name: expected one of {known}",
            "--lang NAME says it",
        )
    return lang or "python"


def read_code(file: str | None, code: str | None) -> str:
    """Read the program from `-c`, a file, or standard input."""
    if code is not None:
        if file is not None:
            usage_error(
                "there are two programs: a file and -c",
                "leave one out; arguments for -c stand after --",
            )
        return code
    if file is None and sys.stdin.isatty():
        usage_error(
            "there is no program to run",
            "llm-sandbox run FILE, or llm-sandbox run -c CODE; or pipe it in",
        )
    if file is None or file == "-":
        return _decoded(sys.stdin.buffer.read(), "standard input")
    return _decoded(_read_file(file), file)


def read_input(
    source: str | None, *, code_from_stdin: bool, timeout: float | None
) -> Iterable[str] | None:
    """Return the lines for the program's `input()`; None to refuse input.

    Args:
        source: A file's path, ``-`` for standard input, or None.
        code_from_stdin: Whether standard input holds the program.
        timeout: Time limit of the program in seconds, which waiting for a line counts against.
    """
    if source is None:
        return None
    if source != "-":
        return _read_file(source).decode("utf-8", "replace")
    if code_from_stdin:
        usage_error(
            "standard input cannot hold both the program and its input", "use FILE or -c CODE"
        )
    return _live_lines(sys.stdin.fileno(), timeout)


def split_file_option(text: str) -> tuple[Path, str]:
    """Split ``--file HOST[:DEST]`` into the host's path and the sandbox's."""
    whole = Path(text)
    host, colon, dest = text.rpartition(":")
    if whole.exists() or not colon:
        path, dest = whole, whole.resolve().name
    else:
        path = Path(host)
    if not path.exists():
        usage_error(f"--file: there is no {path}", "--file HOST[:DEST]")
    if not dest:
        usage_error(f"--file: expected a path in the sandbox, got {text}", "--file HOST[:DEST]")
    return path, dest


def _read_file(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        usage_error(f"there is no file {path}", "code itself goes after -c: run -c CODE")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        usage_error(f"cannot read {path}: {reason}")


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        usage_error(f"{name} is not text in UTF-8")


def _live_lines(descriptor: int, timeout: float | None) -> Iterator[str]:
    """Yield lines as they arrive until the time is up, as the library's own deadline waits."""
    deadline = None if timeout is None else time.monotonic() + timeout
    waiting = b""
    while True:
        line, newline, rest = waiting.partition(b"\n")
        if newline:
            waiting = rest
            yield line.decode("utf-8", "replace")
            continue
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        ready, _, _ = select.select([descriptor], [], [], left)
        data = os.read(descriptor, _READ) if ready else b""
        if not data:
            if waiting:
                yield waiting.decode("utf-8", "replace")
            return
        waiting += data
