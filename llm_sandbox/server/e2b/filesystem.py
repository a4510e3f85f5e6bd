"""Service ``filesystem.Filesystem`` of envd: directories are listed, changed and watched."""

import posixpath
import stat
from datetime import UTC, datetime
from typing import Any

import anyio
from starlette.requests import Request
from starlette.routing import Route

from llm_sandbox.exceptions import (
    FileError,
    SandboxFileExistsError,
    SandboxFileNotFoundError,
    ValidationError,
)
from llm_sandbox.sandbox.files import FileEntry
from llm_sandbox.server.answers import Emit, in_thread
from llm_sandbox.server.e2b.connect import Answer, envelope, stream, unary
from llm_sandbox.server.fleet import Fleet
from llm_sandbox.server.live_sandbox import LIVE_KEY, LiveSandbox
from llm_sandbox.server.watchers import Watcher, walk

__all__ = ["filesystem_routes", "real_path"]

_TYPES = {
    "file": "FILE_TYPE_FILE",
    "directory": "FILE_TYPE_DIRECTORY",
    "link": "FILE_TYPE_SYMLINK",
    "other": "FILE_TYPE_UNSPECIFIED",
}
_BITS = {
    "file": stat.S_IFREG,
    "directory": stat.S_IFDIR,
    "link": stat.S_IFLNK,
    "other": stat.S_IFIFO,
}
_OWNER = "user"
_LOOK_EVERY_S = 0.25
_KEEPALIVE_S = 50.0
_MOST_DEPTH = 64
_MOVE_S = 60.0


def filesystem_routes(fleet: Fleet) -> list[Route]:
    """Return the routes of the service."""
    most = fleet.options.body_bytes
    calls: dict[str, Any] = {
        "Stat": unary(_stat_file, most),
        "ListDir": unary(_list_dir, most),
        "MakeDir": unary(_make_dir, most),
        "Move": unary(_move, most),
        "Remove": unary(_remove, most),
        "CreateWatcher": unary(_create_watcher, most),
        "GetWatcherEvents": unary(_get_watcher_events, most),
        "RemoveWatcher": unary(_remove_watcher, most),
        "WatchDir": stream(_watch_dir, most),
    }
    return [
        Route(f"/filesystem.Filesystem/{name}", endpoint, methods=["POST"])
        for name, endpoint in calls.items()
    ]


def _live(request: Request) -> LiveSandbox:
    live: LiveSandbox = request.scope[LIVE_KEY]
    return live


def real_path(live: LiveSandbox, path: object) -> str:
    """Return a path of a request in its absolute form; ``~`` is the home of the user.

    Raises:
        ValidationError: It is no text.
        PathError: It is empty or has a NUL.
    """
    if not isinstance(path, str):
        raise ValidationError("invalid path: expected text", parameter="path")
    if path == "~" or path.startswith("~/"):
        path = live.sandbox.workdir + path[1:]
    return posixpath.normpath(live.sandbox.files.resolve(path))


async def _stat_file(request: Request, message: dict[str, Any]) -> Answer:
    """Describe a file, or a link itself."""
    live = _live(request)
    path = real_path(live, message.get("path"))
    return {"entry": await in_thread(_stat, live, path)}


def _stat(live: LiveSandbox, path: str) -> dict[str, object]:
    return _entry(live.sandbox.files.stat(path, follow=False), path)


async def _list_dir(request: Request, message: dict[str, Any]) -> Answer:
    """List a directory, and those below it to a depth."""
    live = _live(request)
    path = real_path(live, message.get("path"))
    depth = message.get("depth", 1) or 1
    if isinstance(depth, bool) or not isinstance(depth, int) or not 1 <= depth <= _MOST_DEPTH:
        raise ValidationError(
            f"invalid depth: expected a number from 1 to {_MOST_DEPTH}", parameter="depth"
        )
    found = await in_thread(lambda: sorted(walk(live.sandbox.files, path, depth)))
    return {"entries": [_entry(entry, posixpath.join(path, name)) for name, entry in found]}


async def _make_dir(request: Request, message: dict[str, Any]) -> Answer:
    """Create a directory with its parents."""
    live = _live(request)
    path = real_path(live, message.get("path"))
    await in_thread(live.sandbox.files.mkdir, path, exist_ok=False)
    return {"entry": await in_thread(_stat, live, path)}


async def _move(request: Request, message: dict[str, Any]) -> Answer:
    """Rename a file or a directory."""
    live = _live(request)
    source = real_path(live, message.get("source"))
    target = real_path(live, message.get("destination"))
    await in_thread(_rename, live, source, target)
    return {"entry": await in_thread(_stat, live, target)}


def _rename(live: LiveSandbox, source: str, target: str) -> None:
    files = live.sandbox.files
    files.stat(source, follow=False)
    files.mkdir(posixpath.dirname(target))
    done = live.sandbox.exec("mv", "-T", "--", source, target, timeout=_MOVE_S).collect()
    if done.exit_code:
        # trust: the words of a program inside; they are shown as a message only.
        words = done.stderr.strip()[:500]
        kind = SandboxFileExistsError if "not empty" in words else FileError
        raise kind(f"the file could not be moved: {words}", path=source)


async def _remove(request: Request, message: dict[str, Any]) -> Answer:
    """Remove a file, or a directory with its content."""
    live = _live(request)
    path = real_path(live, message.get("path"))
    await in_thread(live.sandbox.files.remove, path, recursive=True)
    return {}


# --- watching


async def _create_watcher(request: Request, message: dict[str, Any]) -> Answer:
    """Watch a directory for a client that asks now and then."""
    live = _live(request)
    path = real_path(live, message.get("path"))
    recursive = message.get("recursive") is True
    watcher = await in_thread(_watch, live, path, recursive)
    return {"watcherId": watcher.id}


def _watch(live: LiveSandbox, path: str, recursive: bool) -> Watcher:
    if live.sandbox.files.stat(path).kind != "directory":
        raise ValidationError(f"invalid path: {path} is no directory", parameter="path")
    return live.watch(path, recursive=recursive)


async def _get_watcher_events(request: Request, message: dict[str, Any]) -> Answer:
    """Return what changed since the last question."""
    watcher = _live(request).watcher(str(message.get("watcherId")))
    return {"events": await in_thread(_changes, watcher)}


async def _remove_watcher(request: Request, message: dict[str, Any]) -> Answer:
    """Stop to watch."""
    _live(request).unwatch(str(message.get("watcherId")))
    return {}


async def _watch_dir(request: Request, message: dict[str, Any], emit: Emit) -> None:
    """Watch a directory, and send each change."""
    live = _live(request)
    path = real_path(live, message.get("path"))
    watcher = await in_thread(_watch, live, path, message.get("recursive") is True)
    deadline = request.headers.get("connect-timeout-ms", "0")
    limit_s = int(deadline[:10]) / 1000 if deadline.isascii() and deadline.isdigit() else 0
    try:
        await emit(envelope({"start": {}}))
        with anyio.move_on_after(limit_s or None):
            silent_s = 0.0
            while True:
                await anyio.sleep(_LOOK_EVERY_S)
                silent_s += _LOOK_EVERY_S
                for event in await in_thread(_changes, watcher):
                    silent_s = 0.0
                    await emit(envelope({"filesystem": event}))
                if silent_s >= _KEEPALIVE_S:
                    silent_s = 0.0
                    await emit(envelope({"keepalive": {}}))
    finally:
        live.unwatch(watcher.id)


def _changes(watcher: Watcher) -> list[dict[str, str]]:
    try:
        changes = watcher.changes()
    except SandboxFileNotFoundError:
        return []
    return [
        {"name": change.path, "type": f"EVENT_TYPE_{change.kind.upper()}"} for change in changes
    ]


def _entry(entry: FileEntry, path: str) -> dict[str, object]:
    mode = entry.mode & 0o7777
    moment = datetime.fromtimestamp(max(0.0, min(entry.mtime, 2e11)), UTC)
    link = {} if entry.target is None else {"symlinkTarget": _shown(entry.target)}
    return {
        "name": _shown(posixpath.basename(path)),
        "type": _TYPES[entry.kind],
        "path": _shown(path),
        "size": str(entry.size),
        "mode": mode,
        "permissions": stat.filemode(_BITS[entry.kind] | mode)[1:],
        "owner": _OWNER,
        "group": _OWNER,
        "modifiedTime": moment.isoformat().replace("+00:00", "Z"),
        **link,
    }


def _shown(text: str) -> str:
    """Return a name from inside as text that UTF-8 can encode."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
