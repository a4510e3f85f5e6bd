"""Starting what the host asked for, with a terminal or without."""

from __future__ import annotations

import time

from . import launch, linux
from .control import Message
from .state import MachineState, RunningProcess


def start(
    machine_state: MachineState, request: Message, fds: list[int]
) -> tuple[RunningProcess, int]:
    """Start a program; returns it, and the pipe that tells whether it runs (see `launch`).

    Args:
        machine_state: Where.
        request: As the host sent it; ``terminal`` has rows and columns, and is null for none.
        fds: Its stdin, stdout and stderr.
    """
    control = None
    if request.get("terminal") is None:
        pid, report = launch.launch(machine_state.machine, request, fds)
    else:
        from . import terminal

        made = terminal.open_terminal(machine_state.machine, request["terminal"], fds)
        machine_state.agents.add(made.pid)
        control = made.control
        try:
            with made.handover:
                pid, report = launch.launch(
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


def resize(running: RunningProcess | None, rows: int, columns: int) -> Message:
    """Change the size of a program's terminal; the answer to the host."""
    if running is None:
        return {"resized": False}
    if running.terminal is None:
        return {"resized": False, "no_terminal": True}
    from . import terminal

    return {"resized": terminal.send_size(running.terminal, rows, columns)}
