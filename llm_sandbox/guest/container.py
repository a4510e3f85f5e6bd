"""Supervisor of a container, and the process that multiplexes its control connection over stdio.

Started as ``python -I -S -c 'from guest import container; container.main(PLAN)'``, where PLAN is a
dictionary:

    env       variables over those of the image, for the zygote
    zygote    arguments for the image's Python that start the zygote at once; null to wait for it
    folders   folders to remove at the end; null in a container of ours, which ends as a whole
    pod       in a pod: see `pod.start`; absent elsewhere

Messages for people go to standard error. The supervisor ends when its standard input does, in a pod
when its host has been gone for long enough; in a container of ours it is process 1, so that the
container ends too.
"""

from __future__ import annotations

# Only what starts the zygote is imported at once: the zygote's own imports take longest.
import _socket
import os

_REAP_S = 2.0

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn


def main(plan: dict[str, Any]) -> None:
    """Entry point."""
    # Copies, so that the zygote gets neither end of the stream.
    stream = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    python = _find_python()
    zygote = None
    if plan["zygote"] is not None and python is not None:
        zygote = _start_zygote([python, *plan["zygote"]], {**os.environ, **plan["env"]})
    near, far = _socket.socketpair()
    if plan.get("pod") is not None:
        from . import pod

        pod.start(near.detach(), plan["pod"], stream)
        _supervise(far.detach(), plan, [], python, zygote)
    multiplexer = os.fork()
    if multiplexer == 0:
        os.close(far.detach())
        _run_multiplexer(near.detach(), *stream)
    os.close(near.detach())
    for fd in (*stream, null):
        os.close(fd)
    _supervise(far.detach(), plan, [multiplexer], python, zygote)


def _start_zygote(argv: list[str], env: dict[str, str]) -> tuple[int, int]:
    """Start the zygote, and return the descriptor of the connection to it and its pid."""
    near, far = (end.detach() for end in _socket.socketpair())
    pid = os.fork()
    if pid == 0:
        try:
            os.set_inheritable(far, True)
            os.execve(argv[0], [*argv, str(far)], env)
        finally:
            os._exit(127)
    os.close(far)
    return near, pid


def _run_multiplexer(control: int, reads_from: int, writes_to: int) -> NoReturn:
    import signal
    import socket

    from . import linux
    from .control import ControlChannel
    from .mux import Multiplexer, StdioTransport

    linux.set_process_name("mux")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    try:
        channel = ControlChannel(socket.socket(fileno=control))
        Multiplexer(StdioTransport(reads_from, writes_to), channel, serves=True).run()
    finally:
        os._exit(0)


def _supervise(
    control: int,
    plan: dict[str, Any],
    helpers: list[int],
    python: str | None,
    zygote: tuple[int, int] | None,
) -> None:
    import socket

    from . import linux, process_tree, supervisor
    from .control import ControlChannel

    channel = ControlChannel(socket.socket(fileno=control))
    adopted = None
    if zygote is not None:
        adopted = ControlChannel(socket.socket(fileno=zygote[0])), zygote[1]
    facts = {
        "environment": dict(os.environ),
        "python": python,
        "own": _own_start(),
        "zygote": zygote is not None,
    }
    if plan["folders"] is None:
        supervisor.serve(channel, "container", helpers=helpers, facts=facts, zygote=adopted)
    linux.set_child_subreaper()
    try:
        supervisor.serve(channel, "plain", helpers=helpers, facts=facts, zygote=adopted)
    finally:
        process_tree.kill_descendants(os.getpid())
        # Process 1 of another's container may not reap orphans.
        _reap()
        supervisor.remove_folders(plan["folders"])
        os._exit(0)


def _reap() -> None:
    import time

    deadline = time.monotonic() + _REAP_S
    while time.monotonic() < deadline:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.01)
        except ChildProcessError:
            return


def _own_start() -> list[str]:
    """Return the command line of this interpreter, up to its options."""
    with open("/proc/self/cmdline", "rb") as file:
        words = file.read().decode().split("\0")
    # The interpreter itself, or a dynamic loader with it.
    return words[: next(number for number, word in enumerate(words) if word.startswith("-I"))]


def _find_python() -> str | None:
    for name in ("python3", "python"):
        for folder in os.environ.get("PATH", os.defpath).split(":"):
            path = os.path.join(folder, name)
            if os.access(path, os.X_OK):
                return path
    return None
