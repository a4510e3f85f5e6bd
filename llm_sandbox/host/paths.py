"""Paths of this library's files in a user's home."""

import os
import sys
import tempfile
from pathlib import Path

__all__ = ["home_folder", "system_name", "unnamed_file", "user_folder"]


def system_name() -> str:
    """Return the name of the operating system."""
    return {"darwin": "macOS", "linux": "Linux"}.get(sys.platform, sys.platform)


def home_folder() -> Path:
    """Return the user's home: ``HOME`` if it is absolute, else from the user database."""
    home = os.environ.get("HOME", "")
    if os.path.isabs(home):  # noqa: PTH117 - text, which may be empty
        return Path(home)
    import pwd

    return Path(pwd.getpwuid(os.geteuid()).pw_dir)


def user_folder(variable: str, usual: str) -> Path:
    """Return this library's folder for a kind of data, by the XDG specification.

    Args:
        variable: Variable of the base folder for such data, if it holds an absolute path.
        usual: Default of the base folder, below the home.
    """
    named = os.environ.get(variable, "")
    base = Path(named) if os.path.isabs(named) else home_folder() / usual  # noqa: PTH117
    return base / "llm-sandbox"


def unnamed_file() -> int:
    """Create an unlinked file, and return its descriptor."""
    with tempfile.TemporaryFile(buffering=0) as file:
        return os.dup(file.fileno())
