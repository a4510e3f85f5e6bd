"""Makes this process see another operating system's Python, as far as that can be on Linux.

What the type stubs say is absent there is taken away: names, and whole modules. Files of Linux's
own, abstract sockets and system calls by number or by the C library fail for this library's code
alone, so that the standard library and the tests go on. Other processes see nothing of it.

`tests.hosts.darwin` is a pytest plugin that does this when it is loaded, which has to be before the
library is: ``python -m pytest -p tests.hosts.darwin tests/...``.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import os
import selectors
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MODULES = (
    *("errno", "fcntl", "grp", "mmap", "os", "pty", "pwd", "resource", "select", "signal"),
    *("socket", "termios", "time", "tty"),
)
# They choose by platform when they are imported, and have chosen Linux.
_CHOOSING = (
    *("asyncio", "anyio", "anyio._backends._asyncio", "code", "concurrent.futures", "ctypes.util"),
    *("docker", "docker.transport", "getpass", "http.client", "importlib.metadata", "logging"),
    *("logging.handlers", "mimetypes", "multiprocessing", "multiprocessing.connection", "pdb"),
    *("multiprocessing.popen_fork", "multiprocessing.resource_tracker", "pathlib", "platform"),
    *("multiprocessing.shared_memory", "psutil", "readline", "shutil", "site", "socketserver"),
    *("ssl", "subprocess", "sysconfig", "tarfile", "tempfile", "urllib.request", "uuid"),
    *("webbrowser", "zipfile", "pytest", "_pytest.faulthandler", "_pytest.pathlib", "rich.console"),
    *("pydantic", "regex", "PIL.Image", "numpy", "pandas", "matplotlib", "trio"),
)
_FILES_OF_LINUX = ("/proc/", "/sys/", "/dev/shm/", "/run/user/")
_CALLS_OF_LINUX = {"prctl", "syscall", "setns", "unshare", "mount", "umount2", "memfd_create"}


def become(platform: str) -> None:
    """Make this process one of `platform`, as `sys.platform` has it: ``darwin``."""
    loaded = [name for name in sys.modules if name.partition(".")[0] == "llm_sandbox"]
    assert not loaded, f"loaded before: {loaded}"
    for name in (*_CHOOSING, *_MODULES):
        with contextlib.suppress(ModuleNotFoundError):
            importlib.import_module(name)
    absent = {name: _names(name, "linux") - _names(name, platform) for name in _MODULES}
    whole = [name for name in _MODULES if not _names(name, platform)]
    _refuse_what_is_of_linux()
    # On macOS it is one of kqueue; what passes descriptors is there, and loses some.
    selectors.DefaultSelector = selectors.PollSelector  # type: ignore[misc, assignment]
    absent["socket"] |= {"SCM_RIGHTS", "send_fds", "recv_fds"}
    for name, missing in absent.items():
        for each in missing:
            if hasattr(sys.modules[name], each):
                delattr(sys.modules[name], each)
    for name in whole:
        sys.modules[name] = None  # type: ignore[assignment]  # its import fails
    tempfile._O_TMPFILE_WORKS = False  # type: ignore[attr-defined]  # found when it was imported
    sys.platform = platform


def _names(name: str, platform: str) -> set[str]:
    """What a module of the standard library has on a platform, by the type stubs."""
    stubs = find_spec("mypy")
    assert stubs is not None
    assert stubs.origin is not None
    folder = Path(stubs.origin).parent / "typeshed" / "stdlib"
    path = folder / name / "__init__.pyi"
    tree = ast.parse((path if path.exists() else folder / f"{name}.pyi").read_text("utf-8"))
    return set(_defined(tree.body, platform))


def _defined(body: list[ast.stmt], platform: str) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.If):
            yield from _defined(node.body if _holds(node.test, platform) else node.orelse, platform)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
            if node.name == "Signals":
                yield from _defined(node.body, platform)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("_"):
            yield from (each.asname or each.name for each in node.names if each.name != "Final")


def _holds(test: ast.expr, platform: str) -> bool:
    """Whether a condition of a stub, such as ``sys.platform != "win32"``, is true."""
    code = compile(ast.Expression(test), "<stub>", "eval")
    system = type("sys", (), {"platform": platform, "version_info": sys.version_info})
    return bool(eval(code, {"sys": system}))


def _is_ours() -> bool:
    """Whether this library's code has called, perhaps by way of the standard library."""
    frame = sys._getframe(2)
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        first = module.partition(".")[0]
        if first == "llm_sandbox":
            return not module.startswith("llm_sandbox.testing")
        if first not in sys.stdlib_module_names and module != __name__:
            return False
        frame = frame.f_back  # type: ignore[assignment]
    return False


def _refuse_what_is_of_linux() -> None:
    def is_there(path: object) -> bool:
        text = os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else ""
        return f"{text}/".startswith(_FILES_OF_LINUX)

    def hook(event: str, details: tuple[Any, ...]) -> None:
        if event in ("open", "os.listdir", "os.scandir") and is_there(details[0]) and _is_ours():
            raise FileNotFoundError(2, "No such file or directory", details[0])
        if event in ("socket.bind", "socket.connect") and isinstance(details[1], (str, bytes)):
            if os.fsencode(details[1])[:1] in (b"", b"\0"):
                raise OSError(22, "Invalid argument")
        elif event == "ctypes.dlsym" and details[1] in _CALLS_OF_LINUX and _is_ours():
            raise AttributeError(details[1])

    sys.addaudithook(hook)

    def looks(original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def call(path: Any, *args: Any, **kwargs: Any) -> Any:
            if is_there(path) and _is_ours():
                raise FileNotFoundError(2, "No such file or directory", path)
            return original(path, *args, **kwargs)

        return call

    for name in ("stat", "lstat", "readlink", "access", "statvfs"):
        setattr(os, name, looks(getattr(os, name)))
