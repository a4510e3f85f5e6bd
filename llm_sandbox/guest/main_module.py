"""The `__main__`, `sys.argv` and file that code finds, as in a notebook or in a script."""

import contextlib
import os
import sys
import tempfile
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
    """A run's code as the file that ``python main.py`` runs, for as long as it runs.

    It lies in the working directory, or in a folder of its own where it cannot. A file of the
    user's is left alone. `__main__` and `sys` say what they say in a script.

    Args:
        code: What it holds.
        namespace: The names of `__main__`.

    Attributes:
        path: The file; None where no file can be written.
    """

    def __init__(self, code: str, namespace: dict[str, Any]) -> None:
        self._data = code.encode("utf-8", "surrogatepass")
        self._own_folder: str | None = None
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
            appear_as(name if self._own_folder is None else self.path)

    def _write(self, folder: str) -> str | None:
        for name in _NAMES:
            path = os.path.join(folder, name)
            try:
                file = open(path, "xb", buffering=0)  # noqa: SIM115 - closed below
            except FileExistsError:
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
            if self.path is not None and self._is_unchanged(self.path):
                os.remove(self.path)
            if self._own_folder is not None:
                os.rmdir(self._own_folder)

    def _is_unchanged(self, path: str) -> bool:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            return file.read(len(self._data) + 1) == self._data
