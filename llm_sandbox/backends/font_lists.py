"""The list of fonts that matplotlib makes at its first figure: made once on this computer, and not
anew in each sandbox, where it takes a second, and many with many fonts.
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
_asked: set[Path] = set()


def font_lists(cache: Path) -> dict[str, str]:
    """Return the files that matplotlib looks for: name to content.

    Empty where there is no matplotlib, and while they are being made, which this has done in the
    background.

    Args:
        cache: This library's folder of what can be made again.
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
        is_asked = folder in _asked
        _asked.add(folder)
    if not found and not is_asked:
        threading.Thread(
            target=_make, args=(folder,), name="llm-sandbox-fonts", daemon=True
        ).start()
    return found


def _key(origin: str) -> str:
    """Stands for matplotlib, and for the fonts that sandboxes see."""
    facts = [origin, sys.version]
    for path in (origin, *_FONTS):
        with contextlib.suppress(OSError):
            facts.append(f"{path} {Path(path).stat().st_mtime_ns}")
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:32]


def _make(folder: Path) -> None:
    """Have matplotlib make them, in a process of its own, which takes no time from others and goes
    on to its end where this one ends before.
    """
    draft = folder.with_name(f"{folder.name}.{secrets.token_hex(4)}")
    with contextlib.suppress(OSError):
        draft.mkdir(mode=0o700, parents=True)
        subprocess.Popen(
            [sys.executable, "-P", "-c", _MAKE, str(folder)],
            # No fonts of the user's own: sandboxes do not have them.
            env={"PATH": "/usr/bin:/bin", "MPLCONFIGDIR": str(draft), "HOME": "/nonexistent"},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ).wait()
