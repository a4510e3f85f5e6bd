"""Clean-up after a sandbox, by a process that outlives a killed host.

A launcher process loads this module without the rest of the library.
"""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Sequence
from typing import NoReturn

from llm_sandbox.guest import linux

__all__ = ["outlive", "remove_group"]

_REMOVAL_S = 30.0
"""On a busy machine the kernel takes seconds to end processes that were killed."""


def remove_group(path: str, wait_s: float) -> bool:
    """Remove a control group and the groups below it; return whether it is gone.

    Args:
        path: Directory of the group.
        wait_s: Seconds to wait for its processes to end.
    """
    deadline = time.monotonic() + wait_s
    while True:
        for folder, _, _ in os.walk(path, topdown=False):
            # A group below may be gone already: other processes remove theirs at the same time.
            with contextlib.suppress(OSError):
                os.rmdir(folder)
        if not os.path.isdir(path):
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.01)


def outlive(
    child: int,
    parent: int,
    cgroups: Sequence[str],
    *,
    status_of: Callable[[int], int] = lambda status: status,
) -> NoReturn:
    """Wait for all children, remove the control groups, and exit as a child has.

    Args:
        child: Process id of the child, which is killed when the host ends.
        parent: Process id of the host.
        cgroups: Directories of control groups.
        status_of: Returns the wait status to exit with, given that of the child.
    """

    def end(*_: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, end)
    # The parent thread lives as long as the host process; its end reaches the sandbox by this, too.
    linux.set_parent_death_signal(signal.SIGTERM)
    if os.getppid() != parent:
        end()  # the host died before the kernel was asked for the signal
    status = 0
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, ended = os.wait()
            if pid == child:
                status = ended
    status = status_of(status)
    deadline = time.monotonic() + _REMOVAL_S
    for group in cgroups:
        remove_group(group, max(0.0, deadline - time.monotonic()))
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
