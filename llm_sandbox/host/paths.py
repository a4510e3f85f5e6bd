"""Where this library keeps its files in a user's home."""

import os
import sys
import tempfile
from pathlib import Path

__all__ = ["home_folder", "system_name", "unnamed_file", "user_folder"]


def system_name() -> str:
    """The operating system that this runs on, for people."""
    return {"darwin": "macOS", "linux": "Linux"}.get(sys.platform, sys.platform)


def home_folder() -> Path:
    """The user's home: ``HOME`` if it is absolute, else what the system knows."""
    home = os.environ.get("HOME", "")
    if os.path.isabs(home):  # noqa: PTH117 - text, which may be empty
        return Path(home)
    import pwd

    return Path(pwd.getpwuid(os.geteuid()).pw_dir)


def user_folder(variable: str, usual: str) -> Path:
    """Return this library's folder for a kind of data, as the XDG specification has it.

    Args:
        variable: The variable that says where all programs keep such data, if it holds an absolute
            path.
        usual: Where they keep it otherwise, below the home.
    """
    named = os.environ.get(variable, "")
    base = Path(named) if os.path.isabs(named) else home_folder() / usual  # noqa: PTH117
    return base / "llm-sandbox"


def unnamed_file() -> int:
    """Make a file, and return its descriptor."""
    with tempfile.TemporaryFile(buffering=0) as file:
        return os.dup(file.fileno())
