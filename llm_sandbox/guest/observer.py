"""Observer of a run's actions: an audit hook (PEP 578) in the kernel's own process.

It is a signal and no boundary. User code shares the interpreter with it, and can blind it or forge
events; native code and child processes raise no events here at all. It is useful even so for
careless code, and for code that hides its actions from a reader of its source.

A hook is called for every event of the interpreter, so it quickly skips uninteresting ones, and it
never raises: an exception in a hook would forbid the action.
"""

import os
import sys
import tempfile
import threading
from importlib import _bootstrap, _bootstrap_external
from types import CodeType, FrameType
from typing import Any

from . import frames
from .audit_events import (
    EVENTS,
    FILE_EVENTS,
    MAX_OBSERVATIONS,
    MAX_SUBJECT,
    SENSITIVE,
    refine,
    to_text,
)
from .text_streams import is_delivering

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_SUSPECT = frozenset({"..", "./", "//", "/e", "/p", "/r", "/v"})
"""Beginnings of paths that may be of a sensitive file, unless the rest shows it."""
_WATCHED = frozenset({*EVENTS, *FILE_EVENTS, "os.chdir", "os.fchdir"}) - {"open"}
_FOLLOWED = frozenset({"open", "os.truncate", "os.chmod", "os.chown", "sqlite3.connect"})
"""Events that follow a path which is a link."""
_LIBRARIES_OWN = frozenset({"native", "introspection"})
"""Capabilities that libraries use all the time, reported only for user code."""
_OBSCURING = frozenset({"os.chdir", "os.fchdir", "os.link", "os.symlink"})
_OWN_CODE: tuple[CodeType, ...] = tuple(
    function.__code__
    for function in (
        getattr(_bootstrap_external, "_write_atomic", None),
        getattr(tempfile, "_get_default_tempdir", None),
    )
    if function is not None
)
"""Functions that write files for the interpreter itself."""
_IMPORT = getattr(getattr(_bootstrap, "_call_with_frames_removed", None), "__code__", None)
_CACHES = ("/__pycache__/", "/.cache/", "/.matplotlib/", "/.config/matplotlib/", "/matplotlib-")
_STARTS = frozenset(
    event
    for event, (capability, _) in EVENTS.items()
    if capability in ("process.run", "process.fork")
)
_FONTS = "/matplotlib/font_manager.py"

Item = tuple[str, str, str]
"""Event, capability and subject."""


class Observer:
    """Observations of the runs of one kernel.

    Args:
        session: The session that sends messages to the host.

    Attributes:
        parent: Header of the current request, the parent of reports.
        watching: Whether the kernel's own thread runs user code. Other threads always do.
        saw_process: Whether the start of a process was ever observed.
        live: Whether a run is on: then new observations are sent at once, as the process may be
            about to end. Those of other threads between two runs are sent with the later one.
    """

    def __init__(self, session: Any) -> None:
        self._session = session
        self._workdir = os.path.realpath(os.getcwd())
        self._inside = self._workdir.rstrip("/") + "/"
        self._thread = threading.get_ident()
        self._lock = threading.RLock()
        self._seen: dict[Item, int] = {}
        self._classified: dict[str, str] = {}
        standard = os.path.dirname(os.__file__)
        self._standard = (f"{standard}/lib-dynload/", f"{standard}/")
        self._libraries: tuple[str, ...] = ()
        self._obscure = False
        self._stopped = False
        self.parent: dict[str, Any] = {}
        self.watching = self.live = False
        self.saw_process = False

    def install(self) -> None:
        """Install the hook for the lifetime of the process: it cannot be removed."""
        self.add_libraries(*sys.path)
        see = self._observe

        def hook(event: str, args: tuple[Any, ...]) -> None:
            if event == "open":
                try:
                    path, _, flags = args
                    writes = flags & _WRITES
                except (TypeError, ValueError):
                    return  # another event of that name
                # Most opened files are skipped without another call.
                if type(path) is str and not self._obscure and "/." not in path:
                    if not writes:
                        if path[:2] not in _SUSPECT:
                            return
                    elif path[:1] not in "/." or path.startswith(self._inside):
                        return
            elif event not in _WATCHED:
                return
            see(event, args)

        sys.addaudithook(hook)

    def add_libraries(self, *paths: str) -> None:
        """Add folders of installed libraries."""
        roots = {f"{path.rstrip('/')}/" for path in paths if path.startswith("/")}
        roots -= {*self._standard, self._inside}
        self._libraries = tuple({*self._libraries, *roots})
        self._classified.clear()

    def stop(self) -> None:
        """Observe nothing from now on, in a fork of the process, which cannot report."""
        self._stopped = True

    def drain(self) -> list[list[Any]]:
        """Return the observations since the last call, each with its count."""
        with self._lock:
            seen, self._seen = self._seen, {}
        return [[*item, count] for item, count in seen.items()]

    # --- in the hook

    def _observe(self, event: str, args: tuple[Any, ...]) -> None:
        if self._stopped or not (self.watching or threading.get_ident() != self._thread):
            return
        try:
            item = self._item(event, args)
            if item is not None and self._count(item) and self.live:
                self._report(item)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            # An exception of the code's signal handler is for the code, and no other is.
            if self._is_from_user_code(error):
                raise

    def _is_from_user_code(self, error: BaseException) -> bool:
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        return trace is not None and self._classify(trace.tb_frame.f_code.co_filename) == "user"

    def _item(self, event: str, args: tuple[Any, ...]) -> Item | None:
        if event in _OBSCURING:
            # From here on a path may lead elsewhere than its text.
            self._obscure = True
        if event in FILE_EVENTS:
            return self._file_item(event, args)
        if event in _STARTS:
            self.saw_process = True
        if event not in EVENTS or (event == "socket.sendmsg" and args[1] is None):
            return None
        capability, subject_of = EVENTS[event]
        origin, file = self._origin()
        if capability in _LIBRARIES_OWN and origin != "user":
            return None
        subject = subject_of(args)
        if capability == "process.run":
            if file.endswith(_FONTS) and subject.startswith("fc-list "):
                return None
            self._obscure = True
        return event, refine(capability, subject), _cut(subject)

    def _file_item(self, event: str, args: tuple[Any, ...]) -> Item | None:
        capability, index, directory = FILE_EVENTS[event]
        if type(args[index]) is int:
            return None
        given = to_text(args[index])
        relative_to = args[directory] if directory is not None else -1
        if event == "sqlite3.connect":
            given = given.removeprefix("file:").partition("?")[0]
            if given in ("", ":memory:"):
                return None
        if event != "open" and relative_to == -1 and self._is_plainly_inside(given):
            return None
        path = self._resolve(given, relative_to, follow=event in _FOLLOWED)
        if event == "open" and SENSITIVE.search(path):
            return event, "file.sensitive", _cut(path)
        if event == "open" and not args[2] & _WRITES:
            return None
        if path.startswith(self._inside) or path == self._workdir or _is_device(path):
            return None
        origin, _ = self._origin()
        if origin == "own" or (origin != "user" and any(word in path for word in _CACHES)):
            return None
        return event, capability, _cut(path)

    def _is_plainly_inside(self, path: str) -> bool:
        if self._obscure or "/." in path:
            return False
        return path[:1] not in "/." or path.startswith(self._inside)

    def _resolve(self, path: str, directory: Any, *, follow: bool) -> str:
        if not path.startswith("/"):
            known = type(directory) is int and directory >= 0
            base = os.readlink(f"/proc/self/fd/{directory}") if known else os.getcwd()
            path = f"{base}/{path}"
        if self._obscure:
            head, tail = os.path.split(path.rstrip("/"))
            path = os.path.realpath(path) if follow else f"{os.path.realpath(head)}/{tail}"
        path = os.path.normpath(path)
        return path[1:] if path.startswith("//") else path

    def _origin(self) -> tuple[str, str]:
        """Return origin and file of an action: those of the nearest code outside the stdlib."""
        frame: FrameType | None = sys._getframe(1)
        own = frame.f_code.co_filename if frame is not None else ""
        while frame is not None:
            code = frame.f_code
            if any(code is known for known in _OWN_CODE):
                return "own", code.co_filename
            if code is _IMPORT:
                return "import", code.co_filename
            if code.co_filename != own:
                origin = self._classify(code.co_filename)
                if origin != "standard":
                    return origin, code.co_filename
            frame = frame.f_back
        return "user", ""

    def _classify(self, file: str) -> str:
        origin = self._classified.get(file)
        if origin is None:
            roots = [root for root in (*self._libraries, *self._standard) if file.startswith(root)]
            nearest = max(roots, key=len, default="")
            if file.startswith("<frozen ") or nearest in self._standard:
                origin = "standard"
            else:
                origin = "library" if nearest else "user"
            if len(self._classified) < 1000:
                self._classified[file] = origin
        return origin

    def _count(self, item: Item) -> bool:
        """Count an observation; return whether it is new, and within the limit."""
        with self._lock:
            count = self._seen.get(item, 0)
            if count == 0 and len(self._seen) >= MAX_OBSERVATIONS:
                return False
            self._seen[item] = count + 1
            return count == 0

    def _report(self, item: Item) -> None:
        wire = self._session.wire
        if wire is None or is_delivering(sys._getframe()):
            return  # sent with the reply
        message = {
            "header": self._session.msg_header("llm_sandbox_observed"),
            "parent_header": self.parent,
            "metadata": {},
            "content": {"observed": [[*item, 1]]},
        }
        wire.send_now(frames.encode(frames.IOPUB, message))


def _cut(subject: str) -> str:
    return subject[:MAX_SUBJECT].encode("utf-8", "backslashreplace").decode()[:MAX_SUBJECT]


def _is_device(path: str) -> bool:
    if path.startswith("/proc/self/fd/"):
        return True
    return path.startswith("/dev/") and not path.startswith("/dev/shm/")  # noqa: S108
