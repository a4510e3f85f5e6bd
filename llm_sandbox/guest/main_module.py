"""`__main__`, `sys.argv` and script file of the user's code, as in a notebook or in a script."""

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import Any

from . import linux

_NAMES = ("main.py", *(f"main_{number}.py" for number in range(1, 20)))


def set_command_line(*argv: str) -> None:
    """Set the command line in `sys` and /proc, in place of the kernel's."""
    sys.argv = list(argv) or [""]
    sys.orig_argv = [sys.executable, *argv]
    with contextlib.suppress(OSError):
        linux.set_command_line(" ".join(sys.orig_argv))


def hide_folder(folder: str) -> None:
    """Remove the folder of the guest package from `sys.path`; its modules are loaded."""
    sys.path[:] = [path for path in sys.path if path != folder]


class Script:
    """Script file of a run's code, as for ``python NAME``, for the time of the run.

    It lies in the working directory, or in a folder of its own where that is not writable. A file
    of the user is never overwritten. `__main__` and `sys` are as in a script.

    Args:
        code: The code.
        namespace: The namespace of `__main__`.
        argv: The command line, the name of the file first; empty for ``main.py`` alone.

    Attributes:
        path: The file; None where none can be written.
    """

    def __init__(self, code: str, namespace: dict[str, Any], argv: Sequence[str] = ()) -> None:
        self._data = code.encode("utf-8", "surrogatepass")
        self._names = tuple(argv[:1]) or _NAMES
        self._own_folder: str | None = None
        self._existed = False
        self._namespace = namespace
        self._before = (list(sys.argv), sys.path[:1], namespace.get("__file__"))
        self.path: str | None = None
        with contextlib.suppress(OSError):
            self.path = self._write(os.getcwd())
            if self.path is None:
                import tempfile

                self._own_folder = tempfile.mkdtemp(dir="/tmp")
                self.path = self._write(self._own_folder)
        if self.path is not None:
            folder, name = os.path.split(self.path)
            namespace.update(__file__=self.path, __spec__=None, __cached__=None)
            sys.path[:1] = [folder]
            set_command_line(name if self._own_folder is None else self.path, *argv[1:])

    def _write(self, folder: str) -> str | None:
        for name in self._names:
            path = os.path.join(folder, name)
            try:
                file = open(path, "xb", buffering=0)  # noqa: SIM115 - closed below
            except FileExistsError:
                with contextlib.suppress(OSError):
                    # A file of the user, which may be the script itself.
                    self._existed = len(self._names) == 1 and self._is_unchanged(path)
                if self._existed:
                    return path
                continue
            except OSError:
                return None
            with file, contextlib.suppress(OSError):
                if file.write(self._data) == len(self._data):
                    return path
            os.remove(path)
            break
        return None

    def remove(self) -> None:
        """Remove the file, unless the code has changed it."""
        with contextlib.suppress(OSError):
            if self.path is not None and not self._existed and self._is_unchanged(self.path):
                os.remove(self.path)
            if self._own_folder is not None:
                os.rmdir(self._own_folder)

    def restore(self) -> None:
        """Restore `__main__` and `sys`."""
        argv, first, file = self._before
        if self.path is None:
            return
        if self._namespace.get("__file__") == self.path:
            self._namespace["__file__"] = file
            if file is None:
                del self._namespace["__file__"]
        if sys.path[:1] == [os.path.dirname(self.path)]:
            sys.path[:1] = first
        set_command_line(*argv)

    def _is_unchanged(self, path: str) -> bool:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            return file.read(len(self._data) + 1) == self._data
