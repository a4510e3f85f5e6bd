"""Discovery of the `runsc` program and its platforms."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from llm_sandbox.exceptions import BackendUnavailableError

__all__ = ["INSTALL_HINT", "Runsc", "find_runsc"]

INSTALL_HINT = "apt-get install runsc"

_FOLDERS = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PLATFORMS = ("systrap", "ptrace")
"""Platforms, which intercept system calls, quickest first; a version has some of them. Not KVM: it
needs a device that ordinary users may not open."""


@dataclass(frozen=True)
class Runsc:
    """Usable runsc program."""

    path: Path
    version: str
    """Version as the program reports it, such as ``release-20240101.0``."""
    platforms: tuple[str, ...]
    """Its platforms, quickest first."""


def find_runsc(search: str = _FOLDERS) -> Runsc:
    """Return the runsc to use.

    Args:
        search: Folders to look in, separated by colons.

    Raises:
        BackendUnavailableError: The program is not installed, or does not run here.
    """
    found = shutil.which("runsc", path=search)
    if found is None:
        raise _unavailable("runsc is not installed")
    words = _output(found, "--version")
    version = re.search(r"runsc version (\S+)", words)
    if version is None:
        raise _unavailable(f"{found} --version: expected a version, got: {words.strip()[:200]}")
    about = re.search(r"-platform string\n(.*)", _output(found, "flags"))
    known = tuple(name for name in _PLATFORMS if about is not None and name in about[1])
    return Runsc(Path(found), version[1], known or _PLATFORMS[-1:])


def _output(path: str, word: str) -> str:
    try:
        done = subprocess.run(
            [path, word], check=False, capture_output=True, text=True, errors="replace", timeout=20
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise _unavailable(f"{path} does not run: {error}") from None
    return done.stdout + done.stderr


def _unavailable(reason: str) -> BackendUnavailableError:
    return BackendUnavailableError(
        f"gVisor cannot be used: {reason}", backend="gvisor", hint=INSTALL_HINT
    )
