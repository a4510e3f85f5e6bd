"""Characters that hide what code does, and the same characters where they belong."""

from __future__ import annotations

import pytest

from llm_sandbox.results.findings import Capability
from llm_sandbox.security.source import Source
from llm_sandbox.security.unicode_tricks import find_hidden_text

FLAG = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


@pytest.mark.parametrize(
    ("text", "place", "subject"),
    [
        ("x = 1\0", (1, 6), "U+0000 NULL"),
        ("a = 1  # \x08\x08", (1, 10), "U+0008 BACKSPACE"),
        ("a = '\x1b[8m'", (1, 6), "U+001B ESCAPE"),
        ("a = 1\n# fine\rimport os\n", (2, 7), "U+000D CARRIAGE RETURN"),
        ("ok = 'user\u202e \u2066# admin\u2069 \u2066'", (1, 11), "U+202E RIGHT-TO-LEFT OVERRIDE"),
        ("# \u2067code\u2069", (1, 3), "U+2067 RIGHT-TO-LEFT ISOLATE"),
        ("sys\u200btem = 1", (1, 4), "U+200B ZERO WIDTH SPACE"),
        ("x = 'sys\u200dtem'", (1, 9), "U+200D ZERO WIDTH JOINER"),
        ("\u3164 = 1; x\u3164 = 2", (1, 9), "U+3164 HANGUL FILLER"),
        ("# read \U000e0049\U000e0067\U000e006e", (1, 8), "U+E0049 TAG LATIN CAPITAL LETTER I"),
        ("x = 'a\ufe00\ufe01\ufe02\ufe03'", (1, 7), "U+FE00 VARIATION SELECTOR-1"),
        ("import \uff4f\uff53", (1, 8), "os"),
        ("\U0001d428\U0001d42c.system('ls')", (1, 1), "os"),
        ("\ufb01nd = 1", (1, 1), "find"),
        ("p\u0430ss_word = 1", (1, 1), "pass_word"),
        ("\u0441\u043e\u0440\u0443 = 1\ncopy = 2", (1, 1), "copy"),
    ],
    ids=ascii,
)
def test_hidden(text: str, place: tuple[int, int], subject: str) -> None:
    """It is seen where it is, and named by its number or by what it looks like."""
    first = find_hidden_text(Source(text, "python"))[0]
    assert Capability.HIDDEN_TEXT is first.capability
    assert (place, subject) == ((first.span.line, first.span.column), first.subject)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x = 1\r\ny = 2\r\n",
        "x = 1\ry = 2\r",
        "\ufeffimport os",
        "x = '\\u202e \\x1b[0m'",
        "form = 1\n\x0cfeed = 2\n",
        "s = '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645'",  # Persian needs its non-joiner
        "s = '\U0001f468\u200d\U0001f469\u200d\U0001f467'",
        f"s = '{FLAG}'",
        "s = '\u2764\ufe0f'",
        "\u03bc = 1; \u03c3_x = 2; \u0394t = 3; \u03bd_max = 4; \u03b1 = 5",
        "\u043f\u0440\u0438\u0432\u0435\u0442 = 1; \u043e\u0431\u044a\u0451\u043c = 2",
        "\u0441\u043e\u0440 = 1",  # a word of its own, of letters that all look like others
        "na\u00efve = 1; \u5909\u6570 = 2",
        "s = '\uff4f\uff53 p\u0430ss'  # \uff4f\uff53 p\u0430ss",
        "# soft\u00ad hyphens \u00adhere",
    ],
    ids=ascii,
)
def test_ordinary(text: str) -> None:
    """Languages, emoji, formulas and line ends are nothing hidden."""
    assert [] == find_hidden_text(Source(text, "python"))


@pytest.mark.parametrize(
    "text",
    [
        "\0" * 100_000,
        "a\u200b" * 100_000,
        "\u202e" * 100_000,
        "p\u0430 " * 50_000,
        "\U000e0041" * 100_000,
        "\U0001f3f4\U000e0041" * 50_000,
        "\ufe00" * 100_000,
        "\ud800\u202e\udfff" * 1_000,
        "\r\n\r" * 50_000,
    ],
    ids=lambda text: ascii(text[:3]),
)
def test_many(text: str) -> None:
    """Any amount is told in bounded length, in order, and the same each time."""
    seen = find_hidden_text(Source(text, "python"))
    assert 1 <= len(seen) <= 100
    places = [(one.span.line, one.span.column) for one in seen]
    assert sorted(places) == places
    assert seen == find_hidden_text(Source(text, "python"))


def test_other_languages() -> None:
    """Comments and strings are those of the code's language."""
    hidden = "int p\u0430ss = 1;"
    assert find_hidden_text(Source(hidden, "java"))
    assert not find_hidden_text(Source('// p\u0430ss\nString s = "p\u0430ss";', "java"))
