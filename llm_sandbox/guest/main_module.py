"""The `__main__`, `sys.argv` and file that code finds, as in a notebook or in a script."""

import contextlib
import os
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from . import linux

_NAMES = ("main.py", *(f"main_{number}.py" for number in range(1, 20)))


def appear_as(*argv: str) -> None:
    """Have `sys` and /proc show this command line instead of the one that the kernel came by."""
    sys.argv = list(argv) or [""]
    sys.orig_argv = [sys.executable, *argv]
    with contextlib.suppress(OSError):
        linux.set_command_line(" ".join(sys.orig_argv))


def hide_folder(folder: str) -> None:
    """Take the folder of what runs the kernel out of the search for modules; it is loaded."""
    sys.path[:] = [path for path in sys.path if path != folder]


class Script:
    """A run's code as the file that ``python NAME`` runs, for as long as it runs.

    It lies in the working directory, or in a folder of its own where it cannot. A file of the
    user's is left alone. `__main__` and `sys` say what they say in a script.

    Args:
        code: What it holds.
        namespace: The names of `__main__`.
        argv: The command line that it sees, its name first; none for ``main.py`` alone.

    Attributes:
        path: The file; None where no file can be written.
    """

    def __init__(self, code: str, namespace: dict[str, Any], argv: Sequence[str] = ()) -> None:
        self._data = code.encode("utf-8", "surrogatepass")
        self._names = tuple(argv[:1]) or _NAMES
        self._own_folder: str | None = None
        self._was_there = False
        self._namespace = namespace
        self._before = (list(sys.argv), sys.path[:1], namespace.get("__file__"))
        self.path: str | None = None
        with contextlib.suppress(OSError):
            self.path = self._write(os.getcwd())
            if self.path is None:
                self._own_folder = tempfile.mkdtemp(dir="/tmp")
                self.path = self._write(self._own_folder)
        if self.path is not None:
            folder, name = os.path.split(self.path)
            namespace.update(__file__=self.path, __spec__=None, __cached__=None)
            sys.path[:1] = [folder]
            appear_as(name if self._own_folder is None else self.path, *argv[1:])

    def _write(self, folder: str) -> str | None:
        for name in self._names:
            path = os.path.join(folder, name)
            try:
                file = open(path, "xb", buffering=0)  # noqa: SIM115 - closed below
            except FileExistsError:
                with contextlib.suppress(OSError):
                    # A file of the user's, which may be the very one that is run.
                    self._was_there = len(self._names) == 1 and self._is_unchanged(path)
                if self._was_there:
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
        """Remove it, unless the code has made something else of it."""
        with contextlib.suppress(OSError):
            if self.path is not None and not self._was_there and self._is_unchanged(self.path):
                os.remove(self.path)
            if self._own_folder is not None:
                os.rmdir(self._own_folder)

    def forget(self) -> None:
        """Have `__main__` and `sys` say what they said before."""
        argv, first, file = self._before
        if self.path is None:
            return
        if self._namespace.get("__file__") == self.path:
            self._namespace["__file__"] = file
            if file is None:
                del self._namespace["__file__"]
        if sys.path[:1] == [os.path.dirname(self.path)]:
            sys.path[:1] = first
        appear_as(*argv)

    def _is_unchanged(self, path: str) -> bool:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            return file.read(len(self._data) + 1) == self._data
