"""Line buffering in worker processes of `multiprocessing` and joblib, so that their output is not
lost.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

from .imports import on_import

if TYPE_CHECKING:
    from types import ModuleType

_LOKY = "joblib.externals.loky.backend.fork_exec"
_PREFIX = "import sys; sys.stdout.reconfigure(line_buffering=True); "


def install() -> None:
    """Make interpreters that are started as workers, by ``spawn``, ``forkserver`` and ``loky``,
    write whole lines at once, as to a terminal.

    A pool ends its workers before they flush, so that output in a pipe's buffer would be lost.
    """
    on_import("multiprocessing.util", _follow)
    on_import(_LOKY, _follow_loky)


def _follow(util: ModuleType) -> None:
    start = getattr(util, "spawnv_passfds", None)
    if start is None or hasattr(start, "__wrapped__"):
        return

    @functools.wraps(start)
    def spawnv_passfds(path: Any, args: Any, passfds: Any) -> Any:
        words = list(args)
        if "-c" in words[:-1]:
            place = words.index("-c") + 1
            words[place] = _prefixed(words[place])
        # No event of the interpreter's tells of it.
        sys.audit("os.posix_spawn", path, words, None)
        return start(path, words, passfds)

    util.spawnv_passfds = spawnv_passfds  # type: ignore[attr-defined]


def _follow_loky(module: ModuleType) -> None:
    start = getattr(module, "fork_exec", None)
    if start is None or hasattr(start, "__wrapped__"):
        return

    @functools.wraps(start)
    def fork_exec(cmd: Any, *args: Any, **options: Any) -> Any:
        words = list(cmd)
        if words[1:2] == ["-m"]:
            code = f"import runpy; runpy.run_module({words[2]!r}, None, '__main__', True)"
            words[1:3] = ["-c", _prefixed(code)]
        sys.audit("os.posix_spawn", words[0], words, None)
        return start(words, *args, **options)

    module.fork_exec = fork_exec  # type: ignore[attr-defined]


def _prefixed(code: Any) -> Any:
    return _PREFIX.encode() + code if isinstance(code, bytes) else _PREFIX + code
