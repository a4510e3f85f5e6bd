"""The pieces: text made harmless, and blocks."""

from __future__ import annotations

import pytest

from llm_sandbox.cli.blocks import is_complete, split_blocks
from llm_sandbox.cli.render import hold_back
from llm_sandbox.host.terminal import strip_controls

HOSTILE = (
    "a\r\nb\x1b]0;title\x07c\x1b]8;;http://x\x1b\\d\x1b[38;5;1me\x9b2Kf\x1bcg\rh\x1bP1q\x1b\\i"
)


def shown(pieces: list[str]) -> str:
    """What a terminal gets of text in pieces."""
    waiting, result = "", ""
    for piece in pieces:
        text, waiting = hold_back(waiting + piece)
        result += strip_controls(text)
    return result + strip_controls(waiting)


@pytest.mark.parametrize("size", range(1, 8))
def test_pieces_are_stripped_like_the_whole(size: int) -> None:
    """A sequence is removed wherever it was cut."""
    pieces = [HOSTILE[at : at + size] for at in range(0, len(HOSTILE), size)]
    assert "a\nbcdefg\nhi" == strip_controls(HOSTILE)
    assert strip_controls(HOSTILE) == shown(pieces)


def test_what_never_ends_is_not_held_back_for_ever() -> None:
    """A sequence that is begun and not ended keeps a few kilobytes waiting, no more."""
    text, waiting = hold_back("\x1b]" + "x" * 100_000)
    assert len(waiting) < 5000
    assert text


@pytest.mark.parametrize(
    ("source", "complete"),
    [
        ("x = 1", True),
        ("x = (1,", False),
        ("for i in x:", False),
        ("for i in x:\n    y", False),
        ("for i in x:\n    y\n", True),
        ("def (", True),
        ("%timeit x", True),
        ("'''a", False),
        ("", True),
    ],
)
def test_is_complete(source: str, complete: bool) -> None:
    """The prompt's rule; code that is wrong is for the interpreter to judge."""
    assert complete is is_complete(source)


@pytest.mark.parametrize(
    ("script", "blocks"),
    [
        ("a\nb\n", ["a\n", "b\n"]),
        ("if a:\n    b\nelif c:\n    d\nelse:\n    e\nf\n", None),
        ("@x\ndef f():\n\n    pass\ng\n", ["@x\ndef f():\n\n    pass\n", "g\n"]),
        ("x = '''\na\n'''\ny", ["x = '''\na\n'''\n", "y"]),
        ("try:\n    a\nexcept E:\n    b\nfinally:\n    c\n", ...),
        ("f(\n    1,\n)\ng", ["f(\n    1,\n)\n", "g"]),
        ("# only\n\n", ["# only\n\n"]),
        ("", []),
    ],
)
def test_split_blocks(script: str, blocks: list[str] | None) -> None:
    """A block ends where an unindented line begins a statement."""
    found = list(split_blocks(script.splitlines(keepends=True)))
    assert script == "".join(found)
    if blocks is None:
        blocks = [script[:-2], "f\n"]
    elif blocks is ...:
        blocks = [script]
    assert blocks == found
