"""Nothing that is put together gets much longer than a program."""

import pytest

from llm_sandbox.security.trees.text_operations import filled, joined, replaced


def test_short_texts_are_put_together():
    assert "a.b" == joined(".", ["a", "b"])
    assert "xbx" == replaced("aba", "a", "x")
    assert "xba" == replaced("aba", "a", "x", 1)
    assert "<1>" == filled("%d", "<%d>", lambda found: "1")


@pytest.mark.parametrize(
    "work",
    [
        lambda: joined("x" * 20_000, ["a"] * 20_000),
        lambda: replaced("a" * 20_000, "a", "x" * 20_000),
        lambda: filled("%s", "%s" * 10_000, lambda found: "x" * 20_000),
    ],
)
def test_long_texts_are_refused(work):
    with pytest.raises(ValueError, match="too long"):
        work()
