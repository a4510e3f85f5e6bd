"""Quotation of texts from inside: every character visible, none of them active."""

import re

from llm_sandbox.views.sanitize import clean, cut_middle

__all__ = ["quoted", "quoted_line", "quoted_output"]

# Letters and marks by their category, yet nothing is seen of them.
_FILLERS = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0]")
_KEPT = "\n\t"


def quoted(text: str, longest: int = 2000) -> str:
    r"""Return text in which control characters, direction overrides, surrogates, unusual spaces
    and invisible characters are shown as escapes such as ``\u202e``.

    Nothing is removed: an invisible character may be the very difference.

    Args:
        text: Text from inside.
        longest: Length above which the middle is cut out.
    """
    # trust: text from inside is shown next to our own words.
    text = cut_middle(text, longest)
    if not text.isprintable():
        text = "".join(c if c.isprintable() or c in _KEPT else _escape(c) for c in text)
    return text if text.isascii() else _FILLERS.sub(lambda found: _escape(found[0]), text)


def quoted_line(text: str, longest: int = 200) -> str:
    """Return text like `quoted`, in one line.

    Args:
        text: Text from inside.
        longest: Length above which the middle is cut out.
    """
    return " ".join(quoted(text, longest).split())


def quoted_output(text: str, longest: int = 2000) -> str:
    """Return output of a program like `quoted`, without the control sequences of its colours.

    Args:
        text: Text from inside.
        longest: Length above which the middle is cut out.
    """
    return quoted(clean(text), longest)


def _escape(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
