"""What root does before bubblewrap and after it, in a process of its own.

bubblewrap must not run as root: a sandbox started by root could write /proc/sys, whatever
capabilities it dropped. So this process binds what the sandbox needs to a place that an
unprivileged user can reach, in a mount namespace of its own, becomes that user in a child, and
starts bubblewrap there. It stays, so that the control groups are removed when everything has ended,
even if the host process was killed.

Reads a JSON plan from the descriptor given as its argument.
"""

import contextlib
import json
import os
import signal
import stat
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from llm_sandbox.backends.hardening.cleanup import remove_group
from llm_sandbox.backends.hardening.idmap import MappedFolder, clone, move, open_exactly
from llm_sandbox.guest import linux

__all__ = ["STAGED", "main", "plan"]

_STAGES = ("/mnt", "/srv", "/media", "/opt")
STAGED = "@staged:"
"""Starts an argument that stands for where a host path was bound to."""


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
    """Describe the work.

    Args:
        command: The bwrap command; arguments that start with `STAGED` name one of `sources` or of
            `mapped`.
        sources: Host paths to bind.
        mapped: Name to what is bound with other owners.
        exact: Those of `sources` whose path has no link, or they are not bound.
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
    """Entry point: the descriptor of the plan is the argument."""
    parent = os.getppid()
    with open(int(sys.argv[1]), encoding="utf-8") as file:
        work: dict[str, Any] = json.load(file)
    # Inherited as ignored, it would have nobody to wait for: children would vanish by themselves.
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
    _outlive(child, parent, work["cgroups"])


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
        target = _make_place(f"{stage}/{number}", is_folder=is_folder)
        linux.mount(f"/proc/self/fd/{fd}", target, None, linux.MS_BIND | linux.MS_REC)
        os.close(fd)
        staged[path] = target
    for name, tree in trees.items():
        is_folder = stat.S_ISDIR(os.fstat(tree).st_mode)
        target = _make_place(f"{stage}/{name}", is_folder=is_folder)
        move(tree, target)
        staged[name] = target
    return staged


def _make_place(path: str, *, is_folder: bool) -> str:
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


def _outlive(child: int, parent: int, cgroups: Sequence[str]) -> None:
    def end(*_: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, end)
    # The parent thread lives as long as the host process; its end reaches the sandbox by this, too.
    linux.set_parent_death_signal(signal.SIGTERM)
    if os.getppid() != parent:
        end()  # it died before the kernel was asked to tell
    _, status = os.waitpid(child, 0)
    deadline = time.monotonic() + 4.0
    for group in cgroups:
        remove_group(group, max(0.0, deadline - time.monotonic()))
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
