"""Text of table cells in Markdown and CSV, safe to display."""

import re

from llm_sandbox.host.terminal import strip_controls

__all__ = ["format_number", "markdown_row", "markdown_text", "spreadsheet_text"]

_LONGEST = 100
_MARKUP = re.compile(r"[\\`*|<]|!(?=\[)|\](?=[(\[:])|&(?=[#\w])|~(?=~)|_(?=_)")
_FORMULA = re.compile(r"[=+@\t\r\n＝＋－＠]|-(?![\d\s.,:-]*$)")  # noqa: RUF001 - full width, as written


def markdown_text(text: str) -> str:
    """Return text escaped for one line of Markdown, also in a table.

    Args:
        text: Text from inside; at most 100 characters are kept.
    """
    # trust: text comes from inside; it must start no link, image, tag or cell.
    line = " ".join(strip_controls(text).split())
    line = line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
    return _MARKUP.sub(lambda match: "\\" + match[0], line)


def markdown_row(cells: list[str]) -> str:
    """Return a row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def format_number(value: float) -> str:
    """Return a number in at most eight digits for a float, twenty for an integer."""
    if isinstance(value, int) and abs(value) < 10**20:
        return str(value)
    return f"{float(value):.8g}"


def spreadsheet_text(text: str) -> str:
    """Return text for a CSV cell: no terminal control sequences, and no formula.

    Args:
        text: Text from inside; an apostrophe is put before what a spreadsheet would run.
    """
    # trust: text comes from inside; terminals obey controls, spreadsheets run formulas.
    text = strip_controls(text)
    return f"'{text}" if _FORMULA.match(text) else text
