"""Splitting of typed or piped code into blocks."""

import codeop
import warnings
from collections.abc import Iterable, Iterator

__all__ = ["indent_after", "is_complete", "is_entered", "split_blocks"]

_GOES_ON = ("else", "elif", "except", "finally")


def is_complete(source: str, lang: str = "python") -> bool:
    """Return whether typed code can be run, by the rule of Python's own prompt: a blank line ends a
    block.

    Code that is wrong is complete, so that the interpreter says what is wrong with it.

    Args:
        source: The lines so far.
        lang: The language; blocks of a language other than Python end at a blank line.
    """
    if lang != "python":
        return source.endswith("\n\n") or not source.strip()
    return _compiles(source, "single")


def is_entered(text: str, lang: str = "python") -> bool:
    """Return whether a block that is edited as a whole can be run when Enter is pressed at its end.

    A complete line can be run. Several lines can be run when they are complete, and the last of
    them does not belong to a block of code that may continue.

    Args:
        text: The block, without the newline that Enter stands for.
        lang: The language; code that is not Python ends at a blank line.
    """
    if lang != "python" or "\n" not in text:
        return is_complete(text + ("" if lang == "python" else "\n"), lang)
    last = text.rpartition("\n")[2]
    goes_on = last[:1] in (" ", "\t") and last.strip() != ""
    if last.strip().endswith(":"):
        return False
    return not goes_on and _compiles(text, "exec")


def indent_after(text: str, lang: str = "python") -> str:
    """Return the indentation of the line after the given text."""
    last = text.rpartition("\n")[2]
    spaces = last[: len(last) - len(last.lstrip())]
    opens = lang == "python" and last.rstrip().endswith(":")
    return f"{spaces}    " if opens else spaces


def split_blocks(lines: Iterable[str], lang: str = "python") -> Iterator[str]:
    """Split a script into blocks that are run one after another.

    A block ends where an unindented line begins a new statement; no blank line is needed.

    Args:
        lines: Lines with their ends.
        lang: The language; a script that is not Python is one block.
    """
    block = ""
    for line in lines:
        begins = line[:1] not in (" ", "\t", "\n", "\r", "#", ")", "]", "}", "")
        goes_on = line.split(":")[0].split(" ")[0].strip() in _GOES_ON
        if (
            lang == "python"
            and begins
            and not goes_on
            and block.strip()
            and _compiles(block, "exec")
        ):
            yield block
            block = ""
        block += line
    if block.strip():
        yield block


def _compiles(source: str, symbol: str) -> bool:
    """Return whether source is complete; False only when more lines could make it so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the interpreter in the sandbox says them
        try:
            return codeop.compile_command(source, "<block>", symbol) is not None
        except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
            return True
