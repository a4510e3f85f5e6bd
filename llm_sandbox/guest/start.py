"""Starting a supervisor as a process of the host's machine; in a container `container` does.

As ``python -I -S -c 'from guest import start; start.main()' FD MODE FOLDERS`` where FD is the
control socket, MODE is ``namespaces`` or ``plain``, and FOLDERS are removed at the end.
"""

from __future__ import annotations

import os
import resource
import signal
import socket
import sys

from . import launch, linux, process_tree
from .control import ControlChannel, Message
from .supervisor import Supervisor

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing itself would be a tenth of the supervisor's start
    from collections.abc import Sequence

    from .supervisor import Mode


def main() -> None:
    """Entry point of a process of this machine: ``FD MODE FOLDERS`` as arguments."""
    control = ControlChannel(socket.socket(fileno=int(sys.argv[1])))
    os.set_inheritable(control.fileno(), False)
    if sys.argv[2] == "namespaces":
        serve(control, "namespaces")
    linux.set_child_subreaper()
    try:
        serve(control, "plain")
    finally:
        process_tree.kill_descendants(os.getpid())
        launch.remove_folders(sys.argv[3:])
        os._exit(0)


def serve(
    control: ControlChannel,
    mode: Mode,
    *,
    helpers: Sequence[int] = (),
    facts: Message | None = None,
    zygote: tuple[ControlChannel, int] | None = None,
) -> None:
    """Be the supervisor until the host hangs up.

    Args:
        control: The connection to the host.
        mode: What keeps machines apart: ``namespaces`` made by this process, the ``container`` that
            this is process 1 of, or, in a ``plain`` process, nothing.
        helpers: Processes that belong to no machine.
        facts: What else the host is told at the start.
        zygote: One that has been started already: the connection to it, and its pid.
    """
    linux.set_process_name("supervisor")
    if mode == "namespaces":
        # It is for overlays alone, whose maker takes it again.
        linux.use_capability(linux.CAP_DAC_OVERRIDE, False)
    os.umask(0o022)
    # Whoever started the host may have signals ignored or blocked: programs must not inherit that.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in signal.valid_signals():
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    # The kernel counts descriptors on their way between processes per user, against the limit of
    # whoever sends: a machine that fills its own, lower limit must not stop the supervisor.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    supervisor = Supervisor(control, mode, helpers)
    if zygote is not None:
        supervisor.adopt_zygote(*zygote)
    ready = {
        "event": "ready",
        "landlock": linux.landlock_abi(),
        "pid": os.getpid(),
        "network": linux.network_name(),
    }
    control.send({**ready, **(facts or {})})
    try:
        supervisor.run()
    finally:
        if mode != "plain":
            os._exit(0)
