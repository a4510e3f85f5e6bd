"""What `llm-sandbox scan` looks at: files, directories, standard input, and their languages."""

import codecs
import io
import os
import re
import stat
import sys
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from llm_sandbox.cli.exit_codes import usage_error
from llm_sandbox.cli.source_languages import LANGUAGES, language_of

__all__ = ["NOTEBOOK", "STDIN", "Input", "find_inputs"]

STDIN = "<stdin>"
"""The path of standard input in reports."""
NOTEBOOK = ".ipynb"
"""How the name of a notebook ends."""

_LARGEST = 50 << 20
_LEFT_OUT = frozenset(
    {".git", ".hg", ".svn", "__pycache__", "node_modules", ".venv", ".mypy_cache", ".ruff_cache"}
)
# Of Python's encodings those in which a byte of ASCII is that character, wherever it stands.
_ENCODINGS = re.compile(r"utf-8(-sig)?|ascii|iso8859-\d+|cp125\d|koi8-[ru]|euc_(jp|kr)|gb2312")


@dataclass(frozen=True)
class Input:
    """One piece of code, or what keeps it from being read."""

    path: str
    """As it was typed, or below what was typed."""
    lang: str
    """Its language."""
    text: str = ""
    """The code; a notebook's whole file."""
    problem: str = ""
    """Why it cannot be read; empty when it can."""


def find_inputs(paths: Sequence[str], lang: str | None, exclude: Sequence[str]) -> Iterator[Input]:
    """Read what was named, directories in the order of their files' names.

    Args:
        paths: Files and directories; ``-`` is standard input.
        lang: Language of the files and of standard input; None to tell it from their names.
        exclude: Patterns of what is left out of directories.
    """
    seen: set[str] = set()
    for path in paths:
        for found in _named(path, lang, exclude):
            if found.path not in seen:
                seen.add(found.path)
                yield found


def _named(path: str, lang: str | None, exclude: Sequence[str]) -> Iterator[Input]:
    if path == "-":
        yield _decoded(STDIN, lang or "python", sys.stdin.buffer.read(_LARGEST + 1))
        return
    try:
        mode = Path(path).stat().st_mode
    except FileNotFoundError:
        usage_error(f"there is no file or directory {path}", "llm-sandbox scan PATH...")
    except (OSError, ValueError) as error:
        usage_error(f"cannot read {path}: {_reason(error)}")
    if stat.S_ISDIR(mode):
        yield from _below(path, exclude)
        return
    known = lang or language_of(Path(path))
    if known is None:
        usage_error(
            f"the language of {path} cannot be told", f"llm-sandbox scan --lang NAME {path}"
        )
    yield _read(str(Path(path)), known)


def _below(root: str, exclude: Sequence[str]) -> Iterator[Input]:
    inside = os.path.realpath(root)
    unlisted: list[OSError] = []
    for folder, folders, files in os.walk(root, onerror=unlisted.append):
        near = Path(folder).relative_to(root)
        folders[:] = sorted(
            name for name in folders if name not in _LEFT_OUT and not _matches(near / name, exclude)
        )
        for name in sorted(files):
            if not _matches(near / name, exclude):
                yield from _member(Path(folder, name), inside)
    for error in unlisted:
        yield Input(str(Path(str(error.filename))), "", problem=_reason(error))


def _member(path: Path, inside: str) -> Iterator[Input]:
    """A file of a directory, when it is code."""
    shown, by_name = str(path), LANGUAGES.get(path.suffix.lower())
    try:
        # trust: who wrote the directory may have a link point to any file of this machine.
        if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(inside):
            if by_name is not None:
                yield Input(shown, by_name, problem="a link to outside of the directory")
            return
        lang = language_of(path) if path.is_file() else None
    except OSError as error:
        yield Input(shown, by_name or "", problem=_reason(error))
        return
    if lang is not None:
        yield _read(shown, lang)


def _matches(path: Path, exclude: Sequence[str]) -> bool:
    globs = [pattern.rstrip("/") for pattern in exclude]
    return any(fnmatch(str(path), glob) or fnmatch(path.name, glob) for glob in globs)


def _read(path: str, lang: str) -> Input:
    try:
        with Path(path).open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        return Input(path, lang, problem=_reason(error))
    return _decoded(path, lang, data)


def _decoded(path: str, lang: str, data: bytes) -> Input:
    if len(data) > _LARGEST:
        return Input(path, lang, problem=f"larger than {_LARGEST >> 20} MiB")
    try:
        encoding = _encoding(data) if lang == "python" and not _is_notebook(path) else "utf-8-sig"
        return Input(path, lang, data.decode(encoding))
    except SyntaxError:
        problem = "is not text in UTF-8, and declares no other encoding that is known"
        return Input(path, lang, problem=problem)
    except LookupError as error:
        return Input(path, lang, problem=str(error))
    except UnicodeDecodeError as error:
        problem = f"is not text in {error.encoding.upper()} (byte {error.start + 1})"
        return Input(path, lang, problem=problem)


def _encoding(data: bytes) -> str:
    """The encoding that a Python file declares.

    Raises:
        SyntaxError: It is not known.
        LookupError: It makes other text of ASCII, which hides code.
    """
    declared, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    name = codecs.lookup(declared).name
    if not _ENCODINGS.fullmatch(name):
        raise LookupError(f"declares the encoding {declared}, which is not read here")
    return declared


def _is_notebook(path: str) -> bool:
    return path.lower().endswith(NOTEBOOK)


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
