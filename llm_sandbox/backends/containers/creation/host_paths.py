"""Which folders and files of the host a sandbox should not be given, and why."""

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from llm_sandbox.backends.containers.creation.writable_host_paths import origin, write_risk
from llm_sandbox.host.places import user_folder
from llm_sandbox.settings import get_settings

__all__ = ["path_risk"]

_SYSTEM = {
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
"""Folders with everything below them."""

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
"""Where this library's settings, volumes, secrets and registered sandboxes are."""

_SOCKET_REASON = "who reaches the socket of a container engine commands the machine"


def path_risk(source: str, *, writable: bool = False) -> str | None:
    """Say why a path of this machine should not be mounted; None when nothing is known against it.

    Links are followed where the path exists here, and so are bind mounts. A path of another machine
    is judged by its name.

    Args:
        source: The path, absolute or not.
        writable: Whether a sandbox is to write there.
    """
    path = _clean(_resolve(source))
    danger = _read_danger(dict.fromkeys((_clean(source), path, origin(path))))
    return write_risk(path) if danger is None and writable else danger


def _read_danger(paths: Iterable[str]) -> str | None:
    for path in paths:
        if path == "/":
            return "it is the machine's whole file system"
        reason = (
            _system_danger(path) or _socket_danger(path) or _home_danger(path) or _own_danger(path)
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


def _system_danger(path: str) -> str | None:
    for place, reason in _SYSTEM.items():
        if _holds(place, path) or _holds(path, place):
            return reason
    return None


def _socket_danger(path: str) -> str | None:
    if os.path.basename(path) in _SOCKETS:
        return _SOCKET_REASON
    if any(os.path.lexists(os.path.join(path, name)) for name in _SOCKETS):
        return _SOCKET_REASON
    for socket in _engine_sockets():
        if _holds(path, socket) or _same(path, socket):
            return _SOCKET_REASON
    return None


def _home_danger(path: str) -> str | None:
    homes = {"/root", "/home", str(Path.home())} - {"/"}
    for home in homes:
        if _holds(path, home) or os.path.dirname(path) == "/home":
            return "a home folder holds keys and tokens"
        if _holds(home, path) and os.path.relpath(path, home).startswith("."):
            return "hidden folders of a home hold keys and tokens"
    return None


def _own_danger(path: str) -> str | None:
    folders = {
        str(get_settings().cache_dir),
        *(str(user_folder(*where)) for where in _OWN_FOLDERS),
    }
    for folder in {one for place in folders for one in (place, _resolve(place))}:
        if _holds(path, folder) or _holds(folder, path):
            return "this library keeps there what other sandboxes and their owner rely on"
    return None


def _holds(folder: str, path: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _same(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:
        return False


@cache
def _engine_sockets() -> tuple[str, ...]:
    """Where engines of this machine and user listen, as far as it is known without asking them."""
    places = ["/run", "/run/containerd", "/run/crio", "/run/podman", "/run/buildkit"]
    if runtime := os.environ.get("XDG_RUNTIME_DIR"):
        places += [runtime, f"{runtime}/podman", f"{runtime}/containerd"]
    places.append(str(Path.home() / ".docker" / "run"))
    found = [f"{place}/{name}" for place in places for name in _SOCKETS]
    for variable in ("DOCKER_HOST", "CONTAINER_HOST"):
        scheme, _, path = os.environ.get(variable, "").partition("://")
        if scheme == "unix":
            found.append(path)
    return tuple(dict.fromkeys(_resolve(path) for path in found))
