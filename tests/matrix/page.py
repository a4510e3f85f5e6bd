"""The matrix as a page's text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tests.matrix.reference import BACKENDS, REFERENCES, Cell, Reference, load

if TYPE_CHECKING:
    from pathlib import Path

BLOCK: Final = re.compile(r"(<!-- matrix:start -->\n).*?(<!-- matrix:end -->)", re.DOTALL)


def matrix() -> str:
    """Every reference's table."""
    return "\n".join(_section(load(key)) for key in REFERENCES)


def with_matrix(text: str) -> str:
    """A page with the matrix as it is now.

    Raises:
        ValueError: The page does not say where.
    """
    after, count = BLOCK.subn(lambda match: f"{match[1]}\n{matrix()}\n{match[2]}", text)
    if count != 1:
        raise ValueError("there are no lines <!-- matrix:start --> and <!-- matrix:end -->")
    return after


def write(path: Path) -> None:
    """Put the matrix into a page.

    Raises:
        ValueError: The page does not say where.
    """
    path.write_text(with_matrix(path.read_text(encoding="utf-8")), encoding="utf-8")


def _section(reference: Reference) -> str:
    test = f"tests/matrix/test_{reference.key}.py::test_member"
    messages: dict[str, int] = {}
    rows = [["member", *BACKENDS, f"`{test}[…]`"], ["---"] * (len(BACKENDS) + 2)]
    for member in reference.members:
        if member.data:
            cells, where = ["data"] * len(BACKENDS), "data"
        else:
            cells = [_cell(Cell(reference.key, member, backend), messages) for backend in BACKENDS]
            where = "BACKEND"
        rows.append([f"`{member.name}`", *cells, f"`{where}-{member.key}`"])
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    refusals = "\n".join(f"{number}. {message}" for message, number in messages.items())
    count = len(reference.members)
    return f"## {reference.title}: `{reference.module}`\n\n{count} members.\n\n{table}\n" + (
        f"\nWhat the refusals say:\n\n{refusals}\n" if refusals else ""
    )


def _cell(cell: Cell, messages: dict[str, int]) -> str:
    if cell.refusal is None:
        return "works"
    message = cell.refusal
    if cell.member.where is not None:
        message = f"{message} (where there is {cell.member.where})"
    return f"refused {messages.setdefault(message, len(messages) + 1)}"
