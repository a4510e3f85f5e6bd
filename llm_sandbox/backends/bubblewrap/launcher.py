"""Launcher of bubblewrap for root: a process between the host and bwrap.

bubblewrap must not run as root: a sandbox started by root could write /proc/sys, whatever
capabilities it dropped. So the launcher binds what the sandbox needs to a folder that an
unprivileged user can reach, in a mount namespace of its own; a child becomes that user and starts
bwrap. The launcher stays, and removes the control groups at the end, even if the host was killed.

The plan is read as JSON from the descriptor in the first argument.
"""

import json
import os
import signal
import stat
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from llm_sandbox.backends.hardening.cleanup import outlive
from llm_sandbox.backends.hardening.idmap import MappedFolder, clone, move, open_exactly
from llm_sandbox.guest import linux

__all__ = ["STAGED", "main", "plan"]

_STAGES = ("/mnt", "/srv", "/media", "/opt")
STAGED = "@staged:"
"""Prefix of an argument that is replaced by where a host path was bound."""


def plan(
    command: Sequence[str],
    sources: Sequence[str],
    *,
    mapped: Mapping[str, MappedFolder],
    exact: Sequence[str] = (),
    user: int,
    kept_fds: Sequence[int],
    cgroups: Sequence[str],
) -> str:
    """Return the plan of a launcher.

    Args:
        command: The bwrap command; arguments that start with `STAGED` name one of `sources` or of
            `mapped`.
        sources: Host paths to bind.
        mapped: Name to folder that is bound with another owner.
        exact: Those of `sources` that are refused if their path has a link.
        user: The user and group id to become.
        kept_fds: Descriptors that the command inherits.
        cgroups: Group directories to remove at the end.
    """
    return json.dumps(
        {
            "command": list(command),
            "sources": list(sources),
            "mapped": {name: asdict(folder) for name, folder in mapped.items()},
            "exact": list(exact),
            "user": user,
            "kept_fds": list(kept_fds),
            "cgroups": list(cgroups),
        }
    )


def main() -> None:
    """Run the launcher."""
    parent = os.getppid()
    with open(int(sys.argv[1]), encoding="utf-8") as file:
        work: dict[str, Any] = json.load(file)
    # Inherited as ignored, it would leave no child to wait for.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    linux.set_process_name("llm-sandbox")
    mapped = {name: MappedFolder(**entry) for name, entry in work["mapped"].items()}
    staged = _stage(work["sources"], mapped, work["exact"])
    command = [_resolve(word, staged) for word in work["command"]]
    child = os.fork()
    if child == 0:
        try:
            for fd in work["kept_fds"]:
                os.set_inheritable(fd, True)
            os.setgroups([])
            os.setresgid(*(work["user"],) * 3)
            os.setresuid(*(work["user"],) * 3)
            os.execv(command[0], command)
        except OSError as error:
            os.write(2, f"{command[0]}: {error}\n".encode())
        finally:
            os._exit(126)
    for fd in work["kept_fds"]:
        os.close(fd)
    outlive(child, parent, work["cgroups"])


def _stage(
    sources: Sequence[str], mapped: Mapping[str, MappedFolder], exact: Sequence[str]
) -> dict[str, str]:
    linux.unshare(linux.CLONE_NEWNS)
    linux.mount(None, "/", None, linux.MS_REC | linux.MS_PRIVATE)
    # Opened before the stage is made, which may cover one of them.
    opened = [
        open_exactly(path) if path in exact else os.open(path, os.O_PATH | os.O_CLOEXEC)
        for path in sources
    ]
    folders = [stat.S_ISDIR(os.fstat(fd).st_mode) for fd in opened]
    trees = {name: clone(folder) for name, folder in mapped.items()}
    stage = next(path for path in _STAGES if os.path.isdir(path))
    linux.mount("tmpfs", stage, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "size=1m,mode=755")
    staged = {}
    for number, (path, fd, is_folder) in enumerate(zip(sources, opened, folders, strict=True)):
        target = _make_mount_point(f"{stage}/{number}", is_folder=is_folder)
        linux.mount(f"/proc/self/fd/{fd}", target, None, linux.MS_BIND | linux.MS_REC)
        os.close(fd)
        staged[path] = target
    for name, tree in trees.items():
        is_folder = stat.S_ISDIR(os.fstat(tree).st_mode)
        target = _make_mount_point(f"{stage}/{name}", is_folder=is_folder)
        move(tree, target)
        staged[name] = target
    return staged


def _make_mount_point(path: str, *, is_folder: bool) -> str:
    if is_folder:
        os.mkdir(path, 0o755)
    else:
        with open(path, "wb"):
            pass
    return path


def _resolve(word: str, staged: Mapping[str, str]) -> str:
    if not word.startswith(STAGED):
        return word
    path, _, rest = word.removeprefix(STAGED).partition("//")
    return f"{staged[path]}/{rest}" if rest else staged[path]
