"""Words that stand for secrets: as long, of the same look, and without meaning."""

import secrets
import string

__all__ = ["make_placeholder"]

_KINDS = (string.ascii_lowercase, string.ascii_uppercase, string.digits)
_LONGEST_PREFIX = 12
_MADE_UP = 20
"""Characters that have to be made up, so that nobody guesses one or meets one by chance."""


def make_placeholder(value: str) -> str:
    """Return a word of the same length, signs and kinds of characters, and with the same beginning
    where that says only what kind of key it is (``sk-``, ``ghp_``); where the value is too short
    for one that is sure to be the only one, a longer word.
    """
    prefix = _prefix(value)
    rest = value[len(prefix) :]
    if sum(character in "".join(_KINDS) for character in rest) < _MADE_UP:
        return f"PLACEHOLDER{secrets.token_hex(_MADE_UP // 2)}"
    return prefix + "".join(map(_other, rest))


def _prefix(value: str) -> str:
    """What says the kind of key: short words that end with ``-`` or ``_``."""
    end = max(value[:_LONGEST_PREFIX].rfind(sign) for sign in "-_") + 1
    head = value[:end]
    words = head.replace("_", "-").split("-")
    return head if all(word.islower() and word.isalpha() for word in words if word) else ""


def _other(character: str) -> str:
    for kind in _KINDS:
        if character in kind:
            return secrets.choice(kind)
    return character
