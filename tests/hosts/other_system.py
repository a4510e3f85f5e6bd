"""Makes this process see another operating system's Python, as far as that can be on Linux.

What the type stubs say is absent there is taken away: names, and whole modules. Files of Linux's
own, abstract sockets and system calls by number or by the C library fail for this library's code
alone, so that the standard library and the tests go on. Other processes see nothing of it.

`tests.hosts.darwin` and `tests.hosts.windows` are pytest plugins that do this when they are loaded,
which has to be before the library is: ``python -m pytest -p tests.hosts.darwin tests/...``.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import os
import select
import selectors
import socket
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

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
    *("typer", "pydantic", "regex", "PIL.Image", "numpy", "pandas", "matplotlib", "trio"),
)
_FILES_OF_LINUX = ("/proc/", "/sys/", "/dev/shm/", "/run/user/")
_CALLS_OF_LINUX = {"prctl", "syscall", "setns", "unshare", "mount", "umount2", "memfd_create"}
_NOT_A_SOCKET = 10038


def become(platform: str) -> None:
    """Make this process one of `platform`: ``darwin`` or ``win32``."""
    loaded = [name for name in sys.modules if name.partition(".")[0] == "llm_sandbox"]
    assert not loaded, f"loaded before: {loaded}"
    for name in (*_CHOOSING, *_MODULES):
        with contextlib.suppress(ModuleNotFoundError):
            importlib.import_module(name)
    absent = {name: _names(name, "linux") - _names(name, platform) for name in _MODULES}
    whole = [name for name in _MODULES if not _names(name, platform)]
    _refuse_what_is_of_linux()
    if platform == "win32":
        _refuse_what_windows_lacks()
        selectors.DefaultSelector = selectors.SelectSelector  # type: ignore[misc, assignment]
    else:
        # On macOS it is one of kqueue; the name that passes descriptors is there, and loses some.
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


def _refuse_what_windows_lacks() -> None:
    def is_direct() -> bool:
        return str(sys._getframe(2).f_globals.get("__name__")).startswith("llm_sandbox.")

    def by_path(original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def call(*args: Any, **kwargs: Any) -> Any:
            if is_direct():
                if any(kwargs.get(f"{end}dir_fd") is not None for end in ("", "src_", "dst_")):
                    raise NotImplementedError("dir_fd unavailable on this platform")
                if original.__name__ == "open" and Path(args[0]).is_dir():
                    raise PermissionError(13, "Permission denied", args[0])
            return original(*args, **kwargs)

        return call

    for name in ("link", "mkdir", "open", "readlink", "rename", "replace", "rmdir", "stat"):
        setattr(os, name, by_path(getattr(os, name)))
    os.unlink = by_path(os.unlink)

    def of_file(original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def call(fd: int, *args: Any) -> Any:
            if is_direct() and stat.S_ISSOCK(os.fstat(fd).st_mode):
                raise OSError(9, "Bad file descriptor")
            return original(fd, *args)

        return call

    for name in ("read", "write", "close", "dup"):
        setattr(os, name, of_file(getattr(os, name)))

    original_select = select.select

    def select_sockets(
        reads: list[Any], writes: list[Any], others: list[Any], timeout: float | None = None
    ) -> Any:
        for each in (*reads, *writes, *others):
            if not stat.S_ISSOCK(
                os.fstat(each if isinstance(each, int) else each.fileno()).st_mode
            ):
                raise OSError(_NOT_A_SOCKET, "An operation was attempted on something not a socket")
        if not (reads or writes or others):
            raise OSError(10022, "An invalid argument was supplied")
        return original_select(reads, writes, others, timeout)

    select.select = select_sockets
    selectors.SelectSelector._select = staticmethod(select_sockets)  # type: ignore[attr-defined]

    class Absent:
        def __init__(self, name: str) -> None:
            self._found = getattr(socket.socket, name)

        def __get__(self, instance: Any, owner: Any) -> Any:
            if is_direct():
                raise AttributeError("not on Windows")
            return self._found if instance is None else self._found.__get__(instance, owner)

    for name in ("sendmsg", "recvmsg", "recvmsg_into"):
        setattr(socket.socket, name, Absent(name))

    original_pair = socket.socketpair

    def pair() -> tuple[socket.socket, socket.socket]:
        """What Windows has: two ends of a TCP connection."""
        return original_pair() if not is_direct() else _tcp_pair()

    socket.socketpair = pair  # type: ignore[assignment]


def _tcp_pair() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0), backlog=1) as listener:
        near = socket.create_connection(listener.getsockname())
        far, _ = listener.accept()
        return near, far
