"""Start of programs in a machine, with a terminal or without, and of the zygote."""

from __future__ import annotations

import errno
import json
import os
import signal
import time

from . import linux
from .confinement import close_all_but
from .control import Message
from .machine import PlainMachine
from .process_tree import MARKER
from .state import MachineState, RunningProcess

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

_RESET = ("CHLD", "TERM", "INT", "HUP", "PIPE", "XFSZ", "USR1")
"""Signals that the supervisor or Python handles or ignores; programs start with the defaults."""


def _fork_program(machine: PlainMachine, request: Message, fds: list[int]) -> tuple[int, int]:
    """Fork the requested program, without waiting for its start.

    Returns its pid and a pipe, which closes when the program runs and holds JSON when the start has
    failed. No caller may wait for that pipe alone: other processes of the machine can stop the
    new one before the program runs.

    Args:
        machine: The machine.
        request: With ``argv``, ``env``, ``cwd`` and ``process``; ``stdout`` and ``stderr`` may be
            ``null``, and ``stderr`` may be ``stdout``.
        fds: Its stdin, stdout and stderr, or with a ``terminal`` the handover socket of that.
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
    """Execute the requested program in the child; return the failure if it could not."""
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
        # With the rights of the program.
        os.chdir(request["cwd"] or machine.spec.workdir)
    except OSError as error:
        return {"kind": "bad_cwd", "message": error.strerror}
    return _execute(request["argv"], environment)


def _standard(request: Message, fds: list[int]) -> list[int]:
    """Return the program's standard input, output and error."""
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
    directories = [""] if "/" in name else environment.get("PATH", os.defpath).split(":")
    failure: dict[str, Any] = {"kind": "not_found", "message": "No such file or directory"}
    for directory in directories if name else []:
        path = os.path.join(directory, name)
        try:
            os.execve(path, argv, environment)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except PermissionError as error:
            # A directory of PATH without search permission does not mean that the program exists.
            if os.path.exists(path):
                failure = {"kind": "not_executable", "message": error.strerror}
        except OSError as error:
            kind = "not_executable" if error.errno == errno.ENOEXEC else "other"
            return {"kind": kind, "message": error.strerror}
    return failure


def launch_zygote(request: Message, control: int, *, with_parent: bool) -> int:
    """Start the zygote, from which kernels are forked, and return its pid.

    Args:
        request: With ``argv`` and ``env``.
        control: Descriptor of its control connection.
        with_parent: Whether the kernel kills it with the supervisor, where no namespace does.
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


def start_process(
    machine_state: MachineState, request: Message, fds: list[int]
) -> tuple[RunningProcess, int]:
    """Start a program, with a terminal if one is requested.

    Args:
        machine_state: The machine.
        request: The host's request; ``terminal`` has rows and columns, and is null for none.
        fds: Its stdin, stdout and stderr.

    Returns:
        The process, and the pipe of `_fork_program`.
    """
    control = None
    if request.get("terminal") is None:
        pid, report = _fork_program(machine_state.machine, request, fds)
    else:
        from . import terminal

        made = terminal.open_terminal(machine_state.machine, request["terminal"], fds)
        machine_state.agents.add(made.pid)
        control = made.control
        try:
            with made.handover:
                pid, report = _fork_program(
                    machine_state.machine, request, [made.handover.fileno()]
                )
        except BaseException:
            control.close()
            raise
    timeout = request.get("timeout_s")
    running = RunningProcess(
        request["process"],
        pid,
        request["machine"],
        linux.open_pidfd(pid),
        None if timeout is None else time.monotonic() + timeout,
        wraps=request.get("wraps", False),
        terminal=control,
    )
    return running, report


def resize_terminal(running: RunningProcess | None, rows: int, columns: int) -> Message:
    """Change the size of a program's terminal, and return the answer to the host."""
    if running is None:
        return {"resized": False}
    if running.terminal is None:
        return {"resized": False, "no_terminal": True}
    from . import terminal

    return {"resized": terminal.send_size(running.terminal, rows, columns)}
