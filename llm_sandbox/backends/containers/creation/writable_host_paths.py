"""Which folders and files of the host a sandbox should not be able to change, and why."""

import os
import pwd
import re
import site
import sys
import tempfile
from pathlib import Path

__all__ = ["origin", "write_risk"]

_OCTAL = re.compile(r"\\([0-7]{3})")
"""How the kernel writes white space in a path."""
_SYSTEM = (
    *("/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/opt"),
    *("/proc", "/run", "/sbin", "/snap", "/sys", "/usr", "/var"),
)
"""Trees of the system's: programs, libraries, packages, state, and what runs at its next start."""
_SHARED = ("/", "/home", "/media", "/mnt", "/root", "/srv", "/tmp", "/var/tmp")  # noqa: S108
"""Folders of everybody's: what lies below may be somebody's, but they are nobody's."""
_FIRST_PERSON = 1000
"""Users from here up are people, below are root and services, on all usual systems."""


def write_risk(path: str) -> str | None:
    """Say why a sandbox should not write to a path of this machine; None if it may.

    It may where the caller's own things are: what belongs to an ordinary user who is the caller, or
    any if the caller is root; and what belongs to root, if root is the caller, below the home, the
    temporary folder or the working directory. Never to the running Python, this library, or, as
    root, to the trees of the system.

    Args:
        path: Absolute, without links.
    """
    caller = os.geteuid()
    for one in dict.fromkeys((path, origin(path))):
        reason = _place_danger(one, caller)
        if reason is not None:
            return reason
    try:
        owner = os.stat(path).st_uid
    except OSError:
        owner = caller  # what is not there cannot be judged by its owner
    if owner == caller != 0 or (caller == 0 and (_is_own(path) or owner >= _FIRST_PERSON)):
        return None
    return f"it belongs to {_name(owner)}, and is not in your home, temporary or working folder"


def _place_danger(path: str, caller: int) -> str | None:
    for place in _environment():
        if _holds(place, path) or _holds(path, place):
            return f"the program that runs here is loaded from {place}"
    if path in _SHARED:
        return "it is everybody's"
    if caller == 0 and not _is_own(path) and any(_holds(place, path) for place in _SYSTEM):
        return "it is part of the system"
    return None


def _is_own(path: str) -> bool:
    return any(_holds(place, path) for place in _own_places())


def origin(path: str) -> str:
    """Return the path by which a folder or file is reached without bind mounts, if there is one.

    Args:
        path: Absolute, without links.
    """
    mounts = _mounts()
    # Of two at one place, the later one is seen.
    own = max(
        (one for one in enumerate(mounts) if _holds(one[1][2], path)),
        key=lambda one: (len(one[1][2]), one[0]),
        default=None,
    )
    if own is None:
        return path
    device, root, point = own[1]
    inside = _joined(root, os.path.relpath(path, point))
    # The one that shows most of the file system, and of those the first that was there.
    root, point = min(
        ((other, at) for dev, other, at in mounts if dev == device and _holds(other, inside)),
        key=lambda one: (len(one[0]), len(one[1])),
    )
    return _joined(point, os.path.relpath(inside, root))


def _mounts() -> list[tuple[str, str, str]]:
    """Device, folder of its file system, and where that is seen, of all mounts."""
    found = []
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            for line in file:
                words = [_OCTAL.sub(_character, word) for word in line.split(" ", 5)[2:5]]
                found.append((words[0], words[1], words[2]))
    except OSError:  # no /proc
        return []
    return found


def _character(code: re.Match[str]) -> str:
    return chr(int(code[1], 8))


def _environment() -> set[str]:
    """What the running program is loaded from."""
    folders = {sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.dirname(sys.executable)}
    folders |= {*site.getsitepackages(), str(Path(__file__).parents[3])}
    found = {os.path.realpath(folder) for folder in folders} | folders
    return {os.path.normpath(folder) for folder in found if folder}


def _own_places() -> list[str]:
    """Below which root's folders are the caller's own."""
    found = [str(Path.home()), tempfile.gettempdir(), "/tmp", "/var/tmp"]  # noqa: S108
    try:
        here = os.getcwd()
    except OSError:  # it was removed
        here = "/"
    if here not in _SHARED and not any(_holds(place, here) for place in _SYSTEM):
        found.append(here)
    return [place for place in map(os.path.realpath, found) if place != "/"]


def _name(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"user {user}"


def _joined(folder: str, inside: str) -> str:
    # A path may begin with two slashes, and would keep them.
    return os.path.normpath(f"/{folder.strip('/')}/{inside}".replace("//", "/"))


def _holds(folder: str, path: str) -> bool:
    return folder in (path, "/") or path.startswith(f"{folder}/")
