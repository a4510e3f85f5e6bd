"""Rules for host paths that a sandbox must not read or write."""

import os
import pwd
import re
import site
import sys
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from llm_sandbox.host.paths import user_folder
from llm_sandbox.settings import get_settings

__all__ = ["path_risk"]

_SECRET_TREES = {
    "/proc": "it is the machine's kernel interface",
    "/sys": "it is the machine's kernel interface",
    "/dev": "it holds the machine's devices",
    "/etc": "it holds the machine's passwords and keys, and what is run at its next start",
    "/boot": "it holds the machine's kernel",
    "/run": "sockets there reach the services that run the machine",
    "/var/run": "sockets there reach the services that run the machine",
    "/var/lib/docker": "it holds the files of every container",
    "/var/lib/containerd": "it holds the files of every container",
    "/var/lib/containers": "it holds the files of every container",
    "/var/lib/kubelet": "it holds the credentials of every pod",
}
"""Folders that are refused with everything below them, and why."""

_SOCKETS = (
    "docker.sock",
    "docker-cli.sock",
    "podman.sock",
    "containerd.sock",
    "crio.sock",
    "cri-dockerd.sock",
    "buildkitd.sock",
)

_OWN_FOLDERS = (
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
)
"""Variables and default folders of this library's settings, volumes, secrets and sandboxes."""

_SOCKET_REASON = "who reaches the socket of a container engine commands the machine"


_OCTAL = re.compile(r"\\([0-7]{3})")
"""The kernel's escape for white space in a path."""
_SYSTEM_TREES = (
    *("/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/opt"),
    *("/proc", "/run", "/sbin", "/snap", "/sys", "/usr", "/var"),
)
"""Trees of the operating system: programs, libraries, packages, state and boot files."""
_SHARED_FOLDERS = ("/", "/home", "/media", "/mnt", "/root", "/srv", "/tmp", "/var/tmp")  # noqa: S108
"""Folders shared by all users; what lies below may belong to one of them."""
_FIRST_HUMAN_UID = 1000
"""The first user id of a person; below are root and services, on all usual systems."""


def path_risk(source: str, *, writable: bool = False) -> str | None:
    """Return why a path of this host should not be mounted; None if no rule forbids it.

    Links and bind mounts are followed where the path exists on this host. A path of another machine
    is judged by its name.

    Args:
        source: The path, absolute or relative.
        writable: Whether the sandbox may write to it.
    """
    path = _clean(_resolve(source))
    risk = _read_risk(dict.fromkeys((_clean(source), path, _without_bind_mounts(path))))
    return _write_risk(path) if risk is None and writable else risk


def _read_risk(paths: Iterable[str]) -> str | None:
    for path in paths:
        if path == "/":
            return "it is the machine's whole file system"
        reason = (
            _secret_tree_risk(path) or _socket_risk(path) or _home_risk(path) or _library_risk(path)
        )
        if reason:
            return reason
    return None


def _clean(path: str) -> str:
    # A path may begin with two slashes, and keeps them.
    return "/" + os.path.abspath(path).lstrip("/")


def _resolve(path: str) -> str:
    try:
        return os.path.realpath(path)
    except OSError:  # a link that may not be read
        return path


def _secret_tree_risk(path: str) -> str | None:
    for tree, reason in _SECRET_TREES.items():
        if _holds(tree, path) or _holds(path, tree):
            return reason
    return None


def _socket_risk(path: str) -> str | None:
    if os.path.basename(path) in _SOCKETS:
        return _SOCKET_REASON
    if any(os.path.lexists(os.path.join(path, name)) for name in _SOCKETS):
        return _SOCKET_REASON
    for socket in _engine_sockets():
        if _holds(path, socket) or _same(path, socket):
            return _SOCKET_REASON
    return None


def _home_risk(path: str) -> str | None:
    homes = {"/root", "/home", str(Path.home())} - {"/"}
    for home in homes:
        if _holds(path, home) or os.path.dirname(path) == "/home":
            return "a home folder holds keys and tokens"
        if _holds(home, path) and os.path.relpath(path, home).startswith("."):
            return "hidden folders of a home hold keys and tokens"
    return None


def _library_risk(path: str) -> str | None:
    folders = {
        str(get_settings().cache_dir),
        *(str(user_folder(*names)) for names in _OWN_FOLDERS),
    }
    for folder in folders | {_resolve(folder) for folder in folders}:
        if _holds(path, folder) or _holds(folder, path):
            return "this library keeps there what other sandboxes and their owner rely on"
    return None


def _same(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:
        return False


@cache
def _engine_sockets() -> tuple[str, ...]:
    """Return the sockets at which engines of this machine and user usually listen."""
    folders = ["/run", "/run/containerd", "/run/crio", "/run/podman", "/run/buildkit"]
    if runtime := os.environ.get("XDG_RUNTIME_DIR"):
        folders += [runtime, f"{runtime}/podman", f"{runtime}/containerd"]
    folders.append(str(Path.home() / ".docker" / "run"))
    found = [f"{folder}/{name}" for folder in folders for name in _SOCKETS]
    for variable in ("DOCKER_HOST", "CONTAINER_HOST"):
        scheme, _, path = os.environ.get(variable, "").partition("://")
        if scheme == "unix":
            found.append(path)
    return tuple(dict.fromkeys(_resolve(path) for path in found))


def _write_risk(path: str) -> str | None:
    """Return why a sandbox should not write to a path of this host; None if it may.

    Allowed are files of the caller: those that belong to an ordinary user who is the caller, or to
    any ordinary user if the caller is root; and those of root, if root is the caller, below the
    home, the temporary folder or the working directory. Never allowed are the running Python, this
    library and, as root, the trees of the system.

    Args:
        path: Absolute, without links.
    """
    caller = os.geteuid()
    for one in dict.fromkeys((path, _without_bind_mounts(path))):
        reason = _location_risk(one, caller)
        if reason is not None:
            return reason
    try:
        owner = os.stat(path).st_uid
    except OSError:
        owner = caller  # a missing path has no owner
    if owner == caller != 0 or (caller == 0 and (_is_callers(path) or owner >= _FIRST_HUMAN_UID)):
        return None
    return (
        f"it belongs to {_user_name(owner)}, and is not in your home, temporary or working folder"
    )


def _location_risk(path: str, caller: int) -> str | None:
    for folder in _interpreter_folders():
        if _holds(folder, path) or _holds(path, folder):
            return f"the program that runs here is loaded from {folder}"
    if path in _SHARED_FOLDERS:
        return "it is everybody's"
    if caller == 0 and not _is_callers(path) and any(_holds(tree, path) for tree in _SYSTEM_TREES):
        return "it is part of the system"
    return None


def _is_callers(path: str) -> bool:
    return any(_holds(folder, path) for folder in _callers_folders())


def _without_bind_mounts(path: str) -> str:
    """Return the path of a folder or file without bind mounts; the same path if there is none.

    Args:
        path: Absolute, without links.
    """
    mounts = _mounts()
    # Of two mounts at one path, the later one is visible.
    own = max(
        (one for one in enumerate(mounts) if _holds(one[1][2], path)),
        key=lambda one: (len(one[1][2]), one[0]),
        default=None,
    )
    if own is None:
        return path
    device, root, point = own[1]
    inside = _join(root, os.path.relpath(path, point))
    # The mount that shows most of the file system, and of those the earliest.
    root, point = min(
        ((other, at) for dev, other, at in mounts if dev == device and _holds(other, inside)),
        key=lambda one: (len(one[0]), len(one[1])),
    )
    return _join(point, os.path.relpath(inside, root))


def _mounts() -> list[tuple[str, str, str]]:
    """Return the device, the root within its file system and the mount point of every mount."""
    found = []
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            for line in file:
                words = [_OCTAL.sub(_character, word) for word in line.split(" ", 5)[2:5]]
                found.append((words[0], words[1], words[2]))
    except OSError:  # no /proc
        return []
    return found


def _character(code: re.Match[str]) -> str:
    return chr(int(code[1], 8))


def _interpreter_folders() -> set[str]:
    """Return the folders that the running interpreter and this library are loaded from."""
    folders = {sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.dirname(sys.executable)}
    folders |= {*site.getsitepackages(), str(Path(__file__).parents[1])}
    found = {os.path.realpath(folder) for folder in folders} | folders
    return {os.path.normpath(folder) for folder in found if folder}


def _callers_folders() -> list[str]:
    """Return the folders below which root, as the caller, may have a sandbox write."""
    found = [str(Path.home()), tempfile.gettempdir(), "/tmp", "/var/tmp"]  # noqa: S108
    try:
        cwd = os.getcwd()
    except OSError:  # it was removed
        cwd = "/"
    if cwd not in _SHARED_FOLDERS and not any(_holds(tree, cwd) for tree in _SYSTEM_TREES):
        found.append(cwd)
    return [folder for folder in map(os.path.realpath, found) if folder != "/"]


def _user_name(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"user {user}"


def _join(folder: str, inside: str) -> str:
    # A path may begin with two slashes, and would keep them.
    return os.path.normpath(f"/{folder.strip('/')}/{inside}".replace("//", "/"))


def _holds(folder: str, path: str) -> bool:
    return folder in (path, "/") or path.startswith(f"{folder}/")
