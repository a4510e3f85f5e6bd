"""IPython magic `%%sandbox`, which runs cells of a notebook in a sandbox.

::

    %%sandbox --lib tabulate --timeout 10
    print("in a sandbox")

Load it with `%load_ext llm_sandbox`. All such cells of a notebook share one session for each
language, which ends with the notebook. A cell is stopped after 60 seconds; ``--timeout 600`` allows
more, and ``--timeout none`` removes the limit. `%sandbox_reset` ends the sessions.
"""

import shlex
from typing import TYPE_CHECKING, Any

from llm_sandbox.create import create_session
from llm_sandbox.exceptions import SandboxTimeoutError, ValidationError
from llm_sandbox.limits import DEFAULT_TIMEOUT_S
from llm_sandbox.session.session import BaseSession

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from llm_sandbox.data import ExecutionResult

__all__ = ["SandboxCells", "load"]

_USAGE = "%%sandbox [--lang NAME] [--backend NAME] [--lib NAME]... [--timeout S] [--out VARIABLE]"


class SandboxCells:
    """Sessions of one notebook.

    Args:
        shell: Interpreter of the notebook.
    """

    def __init__(self, shell: "InteractiveShell") -> None:
        self._shell = shell
        self._sessions: dict[tuple[str, str | None], BaseSession] = {}

    def cell(self, line: str, cell: str) -> "ExecutionResult":
        """Run a cell in the sandbox, and return its result for display.

        Args:
            line: Options of the magic.
            cell: Code of the cell.

        Raises:
            ValidationError: An option is unknown, or lacks its value.
        """
        asked = _read(line)
        session = self._session(str(asked["lang"]), asked["backend"])
        try:
            result = session.run(cell, asked["lib"] or None, asked["timeout"])
        except SandboxTimeoutError as error:
            if error.result is None:
                raise
            result = error.result  # type: ignore[assignment]
        if asked["out"]:
            self._shell.push({asked["out"]: result})
        return result

    def reset(self, line: str = "") -> None:
        """End all sessions; the next cell gets a fresh one."""
        del line
        sessions, self._sessions = self._sessions, {}
        for session in sessions.values():
            session.close()

    def _session(self, lang: str, backend: str | None) -> BaseSession:
        key = (lang, backend)
        session = self._sessions.get(key)
        if session is None or not session.is_open:
            session = create_session(backend, lang=lang)
            session.open()
            self._sessions[key] = session
        return session


def load(shell: "InteractiveShell") -> None:
    """Add the magics to an interpreter."""
    cells = SandboxCells(shell)
    shell.register_magic_function(cells.cell, "cell", "sandbox")
    shell.register_magic_function(cells.reset, "line", "sandbox_reset")


def _read(line: str) -> dict[str, Any]:
    asked: dict[str, Any] = {
        "lang": "python",
        "backend": None,
        "lib": [],
        "timeout": DEFAULT_TIMEOUT_S,
        "out": None,
    }
    words = iter(shlex.split(line))
    for word in words:
        name, _, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or name not in asked:
            raise ValidationError(f"%%sandbox knows no {word!r}", parameter="line", hint=_USAGE)
        value = value or next(words, "")
        if not value:
            raise ValidationError(f"{word} lacks its value", parameter="line", hint=_USAGE)
        if name == "lib":
            asked["lib"].append(value)
        elif name == "timeout":
            asked["timeout"] = None if value == "none" else _seconds(value)
        else:
            asked[name] = value

    return asked


def _seconds(value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ValidationError(
            f"--timeout takes seconds or none, not {value!r}", parameter="line", hint=_USAGE
        ) from None
