"""Launcher of gVisor: a process between the host and runsc, which ends with the host.

It makes the root file system and starts runsc. All files of runsc are in one file system in memory,
in the launcher's mount namespace, and so are gone with the launcher, however that ends. runsc never
runs as root: root's sandboxes belong to a user that owns nothing. It is user 0 of a user namespace,
by which it can isolate itself.

The plan is read as JSON from the descriptor in the first argument. Standard input is the
supervisor's stream, standard error its log.
"""

import fcntl
import json
import os
import resource
import signal
import stat
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from llm_sandbox.backends.hardening.cleanup import outlive
from llm_sandbox.guest import linux, memory

__all__ = ["BUILD", "LAYERS", "OUT_OF_MEMORY", "ROOT", "STAGE", "main", "plan"]

STAGE = "/mnt"
"""Mount point of the file system in memory; every Linux has this folder."""
ROOT = f"{STAGE}/root"
LAYERS = f"{STAGE}/layers"
OUT_OF_MEMORY = 99
"""Exit status when the kernel has killed a process of the sandbox for lack of memory."""
BUILD = f"{STAGE}/build"
_BUNDLE = f"{STAGE}/bundle"
_STATE = f"{STAGE}/state"

_DATA_BYTES = 2 << 30
"""Private memory of gVisor's own processes, for their tables of files and processes. Memory of
programs inside is not part of it."""
_KEPT_FLAGS = (
    (os.ST_NOEXEC, linux.MS_NOEXEC),
    (os.ST_NOATIME, 1 << 10),
    (os.ST_NODIRATIME, 1 << 11),
    (os.ST_RELATIME, 1 << 21),
)
"""Flags of a mount that a user namespace may not clear: for `statvfs` and for `mount`."""


def plan(
    *,
    runsc: str,
    flags: Sequence[str],
    name: str,
    configuration: Mapping[str, Any],
    binds: Mapping[str, str],
    links: Mapping[str, str],
    files: Mapping[str, str],
    folders: Sequence[str],
    layers: str,
    build: str | None,
    user: int | None,
    joined: Sequence[int],
    cgroups: Sequence[str],
) -> str:
    """Return the plan of a launcher.

    Args:
        runsc: Path of the program.
        flags: Its flags.
        name: Name of the sandbox.
        configuration: The OCI configuration.
        binds: Path inside to host path, read-only.
        links: Path inside to what it links to.
        files: Path inside to content.
        folders: Empty folders.
        layers: The host's folder of installed layers.
        build: Host folder that the sandbox may write to; None for none.
        user: User and group of runsc; None for the caller, who is not root.
        joined: Descriptors of the files by which a process joins control groups.
        cgroups: Group directories to remove at the end.
    """
    return json.dumps(
        {
            "runsc": runsc,
            "flags": list(flags),
            "name": name,
            "configuration": configuration,
            "binds": dict(binds),
            "links": dict(links),
            "files": dict(files),
            "folders": list(folders),
            "layers": layers,
            "build": build,
            "user": user,
            "joined": list(joined),
            "cgroups": list(cgroups),
        }
    )


def main() -> None:
    """Run the launcher."""
    parent = os.getppid()
    with open(int(sys.argv[1]), encoding="utf-8") as file:
        work: dict[str, Any] = json.load(file)
    linux.set_process_name("llm-sandbox")
    linux.set_child_subreaper()
    # Several processes write the log, some of them at their own offsets.
    fcntl.fcntl(2, fcntl.F_SETFL, fcntl.fcntl(2, fcntl.F_GETFL) | os.O_APPEND)
    if work["user"] is None:
        _enter_user_namespace(os.getuid(), os.getgid())
    else:
        linux.unshare(linux.CLONE_NEWNS)
    linux.mount(None, "/", None, linux.MS_REC | linux.MS_PRIVATE)
    _assemble(work)
    child = os.fork()
    if child == 0:
        _become_runsc(work)
    for fd in (0, *work["joined"]):
        os.close(fd)

    def status_of(status: int) -> int:
        out_of_memory = any(memory.oom_kills_of(group) for group in work["cgroups"])
        return OUT_OF_MEMORY << 8 if out_of_memory else status

    outlive(child, parent, work["cgroups"], status_of=status_of)


def _enter_user_namespace(user: int, group: int) -> None:
    linux.unshare(linux.CLONE_NEWUSER | linux.CLONE_NEWNS)
    for name, text in (
        ("setgroups", b"deny"),
        ("uid_map", b"0 %d 1" % user),
        ("gid_map", b"0 %d 1" % group),
    ):
        # As bytes: this user may have no right to the folder that encodings are loaded from.
        with open(f"/proc/self/{name}", "wb") as file:
            file.write(text)


def _assemble(work: Mapping[str, Any]) -> None:
    # Opened before the stage is mounted, which may cover one of them.
    opened = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in work["binds"].values()}
    layers, build = work["layers"], work["build"]
    for path in (layers, *([] if build is None else [build])):
        opened[path] = os.open(path, os.O_PATH | os.O_CLOEXEC)
    # No flags, which a user namespace could not take away: runsc mounts it anew with its own.
    linux.mount("tmpfs", STAGE, "tmpfs", 0, "size=16m,mode=755")
    for folder in (ROOT, _BUNDLE, _STATE, *(ROOT + path for path in work["folders"])):
        os.makedirs(folder, exist_ok=True)
    for inside, text in work["files"].items():
        _make_parent(ROOT + inside)
        with open(ROOT + inside, "w", encoding="utf-8") as file:
            file.write(text)
    for inside, target in work["links"].items():
        _make_parent(ROOT + inside)
        os.symlink(target, ROOT + inside)
    for inside, host in sorted(work["binds"].items()):
        _bind(opened[host], ROOT + inside)
    _bind(opened[layers], LAYERS)
    if build is not None:
        _bind(opened[build], BUILD, writable=True)
    with open(f"{_BUNDLE}/config.json", "w", encoding="utf-8") as file:
        json.dump(work["configuration"], file)
    if work["user"] is not None:
        os.chown(_STATE, work["user"], work["user"])
    for fd in opened.values():
        os.close(fd)


def _make_parent(path: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)


def _bind(source: int, target: str, *, writable: bool = False) -> None:
    # It may exist already, in another bound folder.
    if not os.path.exists(target):
        _make_parent(target)
        if stat.S_ISDIR(os.fstat(source).st_mode):
            os.mkdir(target)
        else:
            with open(target, "wb"):
                pass
    linux.mount(f"/proc/self/fd/{source}", target, None, linux.MS_BIND | linux.MS_REC)
    if writable:
        return
    kept = os.statvfs(target).f_flag
    flags = linux.MS_BIND | linux.MS_REMOUNT | linux.MS_RDONLY | linux.MS_NOSUID | linux.MS_NODEV
    for seen, wanted in _KEPT_FLAGS:
        flags |= wanted if kept & seen else 0
    linux.mount(None, target, None, flags)


def _become_runsc(work: Mapping[str, Any]) -> NoReturn:
    try:
        for fd in work["joined"]:
            os.write(fd, b"0")
            os.close(fd)
        user = work["user"]
        if user is not None:
            linux.set_user(user, user)
            # Or /proc/self would stay root's.
            linux.set_dumpable()
            _enter_user_namespace(user, user)
        resource.setrlimit(resource.RLIMIT_DATA, (_DATA_BYTES, _DATA_BYTES))
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        # runsc's own processes ask for the same of it.
        linux.set_parent_death_signal(signal.SIGKILL)
        os.dup2(0, 1)
        command = [work["runsc"], *work["flags"], "--root", _STATE]
        command += ["run", "--bundle", _BUNDLE, work["name"]]
        os.execve(command[0], command, {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
    except (OSError, ValueError) as error:
        os.write(2, f"{work['runsc']}: {error}\n".encode())
    finally:
        os._exit(126)
