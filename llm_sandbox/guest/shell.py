"""Interactive shell of a session: IPython's, with plain errors and without a history file."""

import builtins
import contextlib
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ipykernel import zmqshell
from ipykernel.displayhook import ZMQShellDisplayHook
from ipykernel.zmqshell import ZMQInteractiveShell
from IPython.core.compilerop import CachingCompiler
from IPython.core.history import HistoryManager

from .installers import refuse_installation
from .tracebacks import Report, cell_name, safe_text

# The history is a database in the home directory, with a thread that writes it.
HistoryManager.enabled = False


def _auditing(run: Callable[[str], Any]) -> Callable[[str], Any]:
    def system(command: str) -> Any:
        sys.audit("os.system", command)
        return run(command)

    return system


# It forks in another library, and no audit event of the interpreter has the command.
if hasattr(zmqshell, "system"):
    zmqshell.system = _auditing(zmqshell.system)


_EXCLUDED_NAMES = frozenset({"_", "__", "___", "input", "getpass"})
"""Names that IPython itself replaces from cell to cell."""


class BuiltinNames:
    """Built-in names that cells have replaced: the replacements are visible for cells alone.

    Jupyter's own code keeps the original names. A name that is deleted, or replaced by an object
    that is not callable, is restored for good: nothing would work without it.
    """

    def __init__(self) -> None:
        self._all = vars(builtins)
        self._names = [name for name in self._all if name not in _EXCLUDED_NAMES]
        self._own = [self._all[name] for name in self._names]
        self._changed: dict[str, Any] = {}

    def enter(self) -> None:
        """Install the replacements of earlier cells, before a cell's code."""
        if self._changed:
            self._all.update(self._changed)
            self._changed = {}

    # The names that it uses are default arguments: the code may have deleted any of them.
    def leave(
        self, *, map: Any = map, list: Any = list, zip: Any = zip, callable: Any = callable
    ) -> bool:
        """Restore the original names after a cell's code; return whether any was replaced."""
        present = list(map(self._all.get, self._names))
        if present == self._own:
            return False
        for name, own, value in zip(self._names, self._own, present):
            if value is not own:
                self._all[name] = own
                if callable(value) and callable(own):
                    self._changed[name] = value
        return True


class CellCompiler(CachingCompiler):
    """Compiler that names each cell's code ``<cell N>``, or by its script file."""

    file: str | None = None

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
        return self.file or cell_name(number)


class SessionShell(ZMQInteractiveShell):
    """One session's shell."""

    def _tee(self, channel: str) -> contextlib.AbstractContextManager[None]:
        # IPython >= 9.1 keeps every chunk written to stdout: unbounded memory and a Python call per
        # write.
        return contextlib.nullcontext()

    exiting: SystemExit | None = None
    """SystemExit of a task other than the cell's, which cancels the cell's task."""
    offline = False
    """Whether there is no network, so that commands that install libraries are refused."""
    reporting = False
    """Whether an error report is being made, which no interrupt may break."""

    async def run_ast_nodes(self, nodelist: Any, *args: Any, **options: Any) -> Any:
        """Run a cell's statements; see `InteractiveShell.run_ast_nodes`."""
        names = self._builtin_names
        if names is None:
            names = self._builtin_names = BuiltinNames()
        names.enter()
        try:
            return await super().run_ast_nodes(nodelist, *args, **options)
        except Exception as error:
            # IPython's own handling of errors needs the original names.
            if not names.leave():
                raise
            result = options.get("result", args[-1] if args else None)
            if result is not None:
                result.error_in_exec = error
            self.showtraceback()
            return True
        finally:
            names.leave()

    _builtin_names: BuiltinNames | None = None

    def _format_exception_for_storage(self, *_: Any, **__: Any) -> dict[str, Any]:
        # For the disabled history, and the slowest part of a first error: 60 to 150 ms.
        return {}

    def run_line_magic(self, magic_name: str, line: str, _stack_depth: int = 1) -> Any:
        """Run a magic; see `InteractiveShell.run_line_magic`."""
        if self.offline:
            refuse_installation(f"{magic_name} {line}")
        return super().run_line_magic(magic_name, line, _stack_depth + 1)

    def system(self, cmd: str) -> None:
        """Run a shell command; see `InteractiveShell.system`."""
        if self.offline:
            refuse_installation(cmd)
        self.system_piped(cmd)

    def getoutput(self, cmd: str, split: bool = True, depth: int = 0) -> Any:
        """Run a shell command and return its output; see `InteractiveShell.getoutput`."""
        if self.offline:
            refuse_installation(cmd)
        return super().getoutput(cmd, split, depth + 1)

    def enable_gui(self, gui: str | None = None) -> None:
        """Do nothing: there is no display for an event loop."""

    def showtraceback(
        self,
        exc_tuple: Any = None,
        filename: str | None = None,
        tb_offset: int | None = None,
        exception_only: bool = False,
        running_compiled_code: bool = False,
    ) -> None:
        """Publish the current exception."""
        _, value, trace = self._get_exc_info(exc_tuple)
        self.reporting = True
        try:
            self._publish_error(value, trace)
        finally:
            self.reporting = False

    def showsyntaxerror(
        self, filename: str | None = None, running_compiled_code: bool = False
    ) -> None:
        """Publish the current syntax error."""
        _, value, trace = self._get_exc_info()
        # Without the traceback: all its frames are the compiler's.
        self._publish_error(value, trace if running_compiled_code else None)

    def _publish_error(self, value: BaseException, trace: Any) -> None:
        if isinstance(value, SystemExit) or self.exiting is not None:
            self._last_traceback = []
            return
        content: dict[str, Any] = {"ename": type(value).__name__}
        try:
            report = Report(value, trace, self.compile.file)
            content["evalue"], content["traceback"] = report.value, report.lines
            content["llm_sandbox"] = report.detail
        except Exception:  # noqa: BLE001 - an error without a report is still sent
            content["evalue"] = safe_text(value)
            content["traceback"] = [f"{content['ename']}: {content['evalue']}"]
        self._last_traceback = content["traceback"]
        for name in ("stdout", "stderr"):
            # The code may have closed, deleted or replaced it.
            with contextlib.suppress(Exception):
                getattr(sys, name).flush()
        hook = self.displayhook
        assert isinstance(hook, ZMQShellDisplayHook)
        session: Any = hook.session
        session.send(hook.pub_socket, "error", content, hook.parent_header, ident=None)


def quiet() -> None:
    """Silence IPython's advice for interactive users."""
    warnings.filterwarnings("ignore", message="To exit: use", category=UserWarning)


_MOST_MATCHES = 500
_MOST_TEXT = 100_000


def complete(
    kernel: Any, arguments: dict[str, Any], _: Sequence[memoryview]
) -> tuple[dict[str, Any], list[bytes]]:
    """Answer with the completions of the word at the cursor, and its start."""
    completer = kernel.shell.Completer
    # Jedi loads slower than a person waits, and reads files.
    completer.use_jedi = False
    found = kernel.do_complete(str(arguments["code"]), int(arguments["cursor"]))
    return {"matches": found["matches"][:_MOST_MATCHES], "start": found["cursor_start"]}, []


def inspect(
    kernel: Any, arguments: dict[str, Any], _: Sequence[memoryview]
) -> tuple[dict[str, Any], list[bytes]]:
    """Answer with type, signature and docstring of a name, and its source on demand."""
    name = str(arguments["name"])
    bundle = kernel.shell.object_inspect_mime(name, detail_level=int(arguments["detail"]))
    return {"text": str(bundle.get("text/plain", ""))[:_MOST_TEXT]}, []
