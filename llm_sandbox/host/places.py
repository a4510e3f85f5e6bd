"""Where this library keeps its files in a user's home."""

import os
import sys
from pathlib import Path

__all__ = ["home_folder", "system_name", "user_folder", "user_id", "usual_place"]


def system_name() -> str:
    """The operating system that this runs on, for people."""
    return {"darwin": "macOS", "win32": "Windows", "linux": "Linux"}.get(sys.platform, sys.platform)


def user_id() -> int:
    """The number of the effective user; 0 is root. Windows has none: -1, which owns nothing."""
    if sys.platform == "win32":
        return -1
    return os.geteuid()


def home_folder() -> Path:
    """The user's home: ``HOME`` if it is absolute, else what the system knows."""
    home = os.environ.get("HOME", "")
    if os.path.isabs(home):  # noqa: PTH117 - text, which may be empty
        return Path(home)
    if sys.platform == "win32":
        return Path.home()
    import pwd

    return Path(pwd.getpwuid(os.geteuid()).pw_dir)


def usual_place(home: Path, below: str) -> Path:
    """Where a kind of data is kept without a variable that says so.

    Args:
        home: The user's home.
        below: The place below it, as the XDG specification has it, such as ``.cache``. macOS has
            the same, as most command-line tools there have; Windows keeps everything that does not
            roam in ``%LOCALAPPDATA%``.
    """
    local = os.environ.get("LOCALAPPDATA", "") if sys.platform == "win32" else ""
    return Path(local) if local else home / below


def user_folder(variable: str, usual: str) -> Path:
    """Return this library's folder for a kind of data, as the XDG specification has it.

    Args:
        variable: The variable that says where all programs keep such data, if it holds an absolute
            path.
        usual: Where they keep it otherwise, below the home.
    """
    named = os.environ.get(variable, "")
    base = Path(named) if os.path.isabs(named) else usual_place(home_folder(), usual)  # noqa: PTH117
    return base / "llm-sandbox"
