"""Font list of matplotlib, made once on this computer.

Otherwise matplotlib makes it at the first figure of each sandbox, which takes seconds with many
fonts.
"""

import contextlib
import hashlib
import importlib.util
import secrets
import subprocess
import sys
import threading
from pathlib import Path

__all__ = ["font_lists"]

_FONTS = ("/usr/share/fonts", "/usr/local/share/fonts")
_LARGEST = 16 << 20
_MAKE = """
import os, shutil, signal, sys
signal.alarm(300)
os.nice(19)
try:
    import matplotlib.font_manager
    os.rename(os.environ["MPLCONFIGDIR"], sys.argv[1])
finally:
    shutil.rmtree(os.environ["MPLCONFIGDIR"], ignore_errors=True)
"""
_lock = threading.Lock()
_requested: set[Path] = set()


def font_lists(cache: Path) -> dict[str, str]:
    """Return matplotlib's font list files: name to content.

    Empty without matplotlib, and while they are being made: the first call starts that in the
    background.

    Args:
        cache: Cache folder of this library.
    """
    spec = importlib.util.find_spec("matplotlib")
    if spec is None or spec.origin is None:
        return {}
    folder = cache / "fonts" / _key(spec.origin)
    try:
        found = {
            path.name: path.read_text("utf-8")
            for path in folder.glob("fontlist-*.json")
            if path.stat().st_size <= _LARGEST
        }
    except (OSError, UnicodeDecodeError):
        return {}
    with _lock:
        is_requested = folder in _requested
        _requested.add(folder)
    if not found and not is_requested:
        threading.Thread(
            target=_make, args=(folder,), name="llm-sandbox-fonts", daemon=True
        ).start()
    return found


def _key(origin: str) -> str:
    """Return a key of this matplotlib and the fonts that sandboxes see."""
    facts = [origin, sys.version]
    for path in (origin, *_FONTS):
        with contextlib.suppress(OSError):
            facts.append(f"{path} {Path(path).stat().st_mtime_ns}")
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:32]


def _make(folder: Path) -> None:
    """Make the font list in a process of low priority, which outlives this process if need be."""
    draft = folder.with_name(f"{folder.name}.{secrets.token_hex(4)}")
    with contextlib.suppress(OSError):
        draft.mkdir(mode=0o700, parents=True)
        subprocess.Popen(
            [sys.executable, "-P", "-c", _MAKE, str(folder)],
            # Without the user's own fonts, which sandboxes do not have.
            env={"PATH": "/usr/bin:/bin", "MPLCONFIGDIR": str(draft), "HOME": "/nonexistent"},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ).wait()
