"""Refusal of commands that install libraries, in a sandbox without a network."""

import re
from itertools import pairwise

__all__ = ["refuse_installation"]

_INSTALL = re.compile(
    r"(?:^|[;&|(])\s*(?:sudo\s+)?(?:\S*python[\d.]*\s+(?:-\w+\s+)*-m\s+)?"
    r"(?:\S*/)?(pip[\d.]*|uv\s+pip|conda|mamba|micromamba)\s+install\b([^;&|]*)"
)
_OFFLINE = frozenset({"--no-index", "--offline", "--help", "-h"})
_WITH_VALUE = frozenset(
    {"-r", "--requirement", "-c", "--constraint", "-t", "--target", "--prefix", "--root"}
)
_FILE = re.compile(r"[./~].*|(?!.*://).*\.(?:whl|tar\.\w+|zip)")


def refuse_installation(command: str) -> None:
    """Refuse a shell command or magic that would download libraries.

    Raises:
        UsageError: The command would download libraries.
    """
    found = _INSTALL.search(command)
    if found is None or _is_offline(found[2].split()):
        return
    from IPython.core.error import UsageError

    raise UsageError(
        f"{' '.join(found[1].split())} install: no library can be installed from inside: this "
        "sandbox has no network; they are given from outside, or as files"
    )


def _is_offline(words: list[str]) -> bool:
    """Return whether an installation needs no network: it is offline, or of files alone."""
    if not _OFFLINE.isdisjoint(words):
        return True
    named = [
        word
        for before, word in pairwise(["", *words])
        if not word.startswith("-") and before not in _WITH_VALUE
    ]
    return bool(named) and all(_FILE.fullmatch(word.strip("'\"")) for word in named)
