"""Requests of code to install libraries from inside, where there is no way to fetch any."""

import re

__all__ = ["refuse_installation"]

_INSTALL = re.compile(
    r"(?:^|[;&|(])\s*(?:sudo\s+)?(?:\S*python[\d.]*\s+(?:-\w+\s+)*-m\s+)?"
    r"(?:\S*/)?(pip[\d.]*|uv\s+pip|conda|mamba|micromamba)\s+install\b"
)


def refuse_installation(command: str) -> None:
    """Refuse a line for a shell, or of a magic, that would install libraries.

    Raises:
        UsageError: It would.
    """
    found = _INSTALL.search(command)
    if found is None:
        return
    from IPython.core.error import UsageError

    raise UsageError(
        f"{' '.join(found[1].split())} install: no library can be installed from inside: this "
        "sandbox has no network; they are given from outside"
    )
