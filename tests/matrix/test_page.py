"""The page of the matrix says what its tests prove."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.matrix.page import matrix, with_matrix
from tests.matrix.probes import WHERE
from tests.matrix.reference import REFERENCES, load

PAGE = Path(__file__).parents[2] / "docs" / "matrix.md"


def test_the_page_is_in_step() -> None:
    """What `make matrix` would write stands there."""
    text = PAGE.read_text(encoding="utf-8")

    assert with_matrix(text) == text


def test_no_cell_is_empty() -> None:
    rows = [line for line in matrix().splitlines() if line.startswith("|")]

    assert rows
    assert [] == [row for row in rows if not all(map(str.strip, row[1:-1].split("|")))]


def test_another_page_is_left_alone() -> None:
    with pytest.raises(ValueError, match="matrix:start"):
        with_matrix("# A page of something else\n")


@pytest.mark.parametrize("key", REFERENCES)
def test_refusals_have_reasons(key: str) -> None:
    """A refusal is a sentence, and what it depends on is something that is looked at."""
    for member in load(key).members:
        assert all(len(message) > 20 for message in member.refused.values()), member.key
        assert member.where is None or member.where in WHERE
        assert not (member.data and member.refused)
