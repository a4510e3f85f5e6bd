"""Starting a program, or the file service, in a machine."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import time

from . import files, linux
from .confinement import close_all_but
from .control import Message
from .machine import PlainMachine
from .process_tree import MARKER

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing itself would be a tenth of the supervisor's start
    from typing import Any, NoReturn

_RESET = ("CHLD", "TERM", "INT", "HUP", "PIPE", "XFSZ", "USR1")
"""Signals that the supervisor, or Python, handles or ignores."""


def launch(machine: PlainMachine, request: Message, fds: list[int]) -> tuple[int, int]:
    """Start the requested program.

    Returns at once with its pid and a pipe, which closes when the program runs and holds JSON when
    it could not be started. Nobody may wait for that pipe alone: before the program runs, its
    process can be stopped by others of the machine already.

    Args:
        machine: Where.
        request: With ``argv``, ``env``, ``cwd`` and ``process``; ``stdout`` and ``stderr`` may be
            ``null``, and ``stderr`` may be ``stdout``.
        fds: Its stdin, stdout and stderr, or with a ``terminal`` the handover of that.
    """
    environment = {**request["env"], MARKER: request["process"]}
    report_read, report_write = os.pipe()

    def child() -> NoReturn:
        try:
            failure = _become(machine, request, environment, fds, report_write)
        except Exception as error:  # noqa: BLE001 - whatever prevents the start is reported
            failure = {"kind": "other", "message": str(error)}
        os.write(report_write, json.dumps(failure).encode())
        os._exit(127)

    try:
        return machine.fork(child), report_read
    except BaseException:
        os.close(report_read)
        raise
    finally:
        os.close(report_write)


def _become(
    machine: PlainMachine,
    request: Message,
    environment: dict[str, str],
    fds: list[int],
    report: int,
) -> dict[str, Any]:
    """In the child: turn into the requested program; returns only if that failed, with why."""
    signal.set_wakeup_fd(-1)
    for name in _RESET:
        signal.signal(getattr(signal, f"SIG{name}"), signal.SIG_DFL)
    machine.join()
    os.setsid()
    try:
        standard = _standard(request, fds)
    except NotImplementedError as error:
        return {"kind": "no_terminal", "message": str(error)}
    for target, fd in enumerate(standard):
        os.dup2(fd, target)
    os.set_inheritable(report, False)
    close_all_but([report])
    machine.spec.confinement.apply()
    try:
        # By the rights that the program will have.
        os.chdir(request["cwd"] or machine.spec.workdir)
    except OSError as error:
        return {"kind": "bad_cwd", "message": error.strerror}
    return _execute(request["argv"], environment)


def _standard(request: Message, fds: list[int]) -> list[int]:
    """What the program gets as standard input, output and error."""
    if request.get("terminal") is not None:
        from . import terminal

        return [terminal.acquire_terminal(fds[0])] * 3
    stdin, stdout, stderr = fds
    if request.get("stdout") == "null":
        stdout = os.open(os.devnull, os.O_WRONLY)
    if request.get("stderr") == "null":
        stderr = os.open(os.devnull, os.O_WRONLY)
    elif request.get("stderr") == "stdout":
        stderr = stdout
    return [stdin, stdout, stderr]


def _execute(argv: list[str], environment: dict[str, str]) -> dict[str, Any]:
    name = argv[0]
    places = [""] if "/" in name else environment.get("PATH", os.defpath).split(":")
    failure: dict[str, Any] = {"kind": "not_found", "message": "No such file or directory"}
    for place in places if name else []:
        path = os.path.join(place, name)
        try:
            os.execve(path, argv, environment)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except PermissionError as error:
            # A directory on the way that may not be searched says nothing about the program.
            if os.path.exists(path):
                failure = {"kind": "not_executable", "message": error.strerror}
        except OSError as error:
            kind = "not_executable" if error.errno == errno.ENOEXEC else "other"
            return {"kind": kind, "message": error.strerror}
    return failure


def launch_zygote(request: Message, control: int, *, with_parent: bool) -> int:
    """Start the interpreter that kernels are forked from; returns its pid.

    Args:
        request: With ``argv`` and ``env``.
        control: Descriptor of its control connection.
        with_parent: Whether it is told to end with the supervisor, where no namespace sees to it.
    """
    pid = os.fork()
    if pid:
        return pid
    try:
        os.set_inheritable(control, True)
        close_all_but([control])
        for name in _RESET:
            signal.signal(getattr(signal, f"SIG{name}"), signal.SIG_DFL)
        if with_parent:
            linux.set_parent_death_signal(signal.SIGKILL)
        argv = [*request["argv"], str(control)]
        os.execve(argv[0], argv, request["env"])
    finally:
        os._exit(127)


def launch_files(machine: PlainMachine, connection: int) -> int:
    """Start the process that reads and writes the machine's files; returns its pid.

    It has the machine's root, user and walls, and is no process of it: what could stop it could
    hold its host up.
    """

    def child() -> NoReturn:
        signal.set_wakeup_fd(-1)
        # Before it is confined as the machine's processes are, and again after: leaving its
        # capabilities behind makes a process readable to its equals.
        linux.set_undumpable()
        # While it sees itself: there may be no word of it in the machine's /proc.
        close_all_but([connection, *machine.joining])
        machine.join()
        for fd in machine.joining:
            os.close(fd)
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        os.setsid()
        machine.spec.confinement.apply(serves_host=True)
        os.chdir(machine.spec.workdir)
        linux.set_undumpable()
        linux.set_process_name("files")
        files.serve(socket.socket(fileno=connection))
        os._exit(0)

    return machine.fork_servant(child)


def remove_folders(folders: list[str]) -> None:
    """Remove what a machine leaves behind, again while killed processes end their last calls."""
    deadline = time.monotonic() + 2.0
    while left := [folder for folder in folders if os.path.lexists(folder)]:
        for folder in left:
            import shutil

            shutil.rmtree(folder, ignore_errors=True)
        if time.monotonic() > deadline:
            return
        time.sleep(0.01)
