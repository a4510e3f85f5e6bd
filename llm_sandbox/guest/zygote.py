"""Zygote: the interpreter from which kernels are forked.

It preloads libraries, and never runs user code.

It is ready to fork as soon as a bare kernel is built; the science libraries are loaded after that,
one by one, and a request in between is served at once with those that are loaded. It has one
thread, holds no secrets, and serves one host process.

Started as ``python -I -c 'from guest import zygote; zygote.main()' PRELOAD PATIENCE FD``, where
PATIENCE is the number of seconds for which loading pauses after a fork.
"""

import contextlib
import gc
import os
import random
import selectors
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any, NoReturn

from . import linux, main_module
from .confinement import Confinement, close_all_but, data_bytes, join_cgroups
from .control import ControlChannel, Message
from .machine import join_namespaces


def build_bare() -> Any:
    """Build the kernel, with plot capture installed."""
    from . import kernel as kernel_module

    kernel = kernel_module.build()
    with contextlib.suppress(ModuleNotFoundError):
        import shim

        kernel.services = shim.install(kernel.shell)
    return kernel


def preload_steps(kernel: Any, preload: str) -> list[Callable[[], None]]:
    """Return the loading steps after the bare kernel, the most useful first.

    Args:
        kernel: The bare kernel.
        preload: ``science`` or ``lean``.
    """

    def numpy() -> None:
        import numpy  # noqa: F401

    def matplotlib() -> None:
        from .kernel import link_font_lists

        link_font_lists()
        import matplotlib.pyplot  # noqa: F401

    def pandas() -> None:
        import pandas  # noqa: F401

    def draw() -> None:
        _warm(kernel, _FIGURE)

    def cells() -> None:
        _warm(kernel, "print(1)", "1", "1/0")

    def table() -> None:
        _warm(kernel, "__import__('pandas').DataFrame({'a': [1]})")

    return [cells] if preload == "lean" else [cells, numpy, matplotlib, draw, pandas, table]


_FIGURE = """
import matplotlib.pyplot as plt
figure, axes = plt.subplots()
axes.plot([1, 2, 3], label="line")
axes.set_title("Title 0123456789")
axes.legend()
plt.show()
del figure, axes, plt
"""


def _warm(kernel: Any, *cells: str) -> None:
    """Run cells without output, so that every fork shares what they load and cache."""
    shell = kernel.shell
    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = kernel.streams.own.values()
    try:
        for cell in cells:
            shell.run_cell(cell, store_history=False, silent=False)
    finally:
        sys.stdout, sys.stderr = streams
        shell.execution_count = 1
        _forget_results(shell)


def _forget_results(shell: Any) -> None:
    names = ("_", "__", "___")
    # In every place where IPython keeps them: otherwise it takes them for the user's variables, and
    # never sets them again.
    shell.push(dict.fromkeys(names, ""), interactive=False)
    for name in names:
        setattr(shell.displayhook, name, "")
    shell.user_ns["Out"].clear()


class Zygote:
    """Server that forks a kernel for each request, and answers with its pid and pidfd."""

    def __init__(self, control: ControlChannel, kernel: Any, patience_s: float) -> None:
        self._control = control
        self._kernel = kernel
        self._patience_s = patience_s
        self._resume_at = 0.0
        self._children = 0
        # A fork into a PID namespace changes the namespace of the next fork; this one is restored.
        self._own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)

    def run(self, steps: list[Callable[[], None]]) -> None:
        """Serve until the supervisor hangs up, and run the loading steps between requests."""
        wake_read, wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        with selectors.DefaultSelector() as selector:
            selector.register(self._control, selectors.EVENT_READ)
            selector.register(wake_read, selectors.EVENT_READ)
            # A fork's garbage collections would otherwise write to every existing object.
            gc.freeze()
            self._report("bare")
            while True:
                left = max(0.0, self._resume_at - time.monotonic())
                for key, _ in selector.select(left if steps else None):
                    if key.fileobj is self._control:
                        if not self._serve():
                            return
                    else:
                        os.read(wake_read, 4096)
                self._reap()
                if steps and time.monotonic() >= self._resume_at:
                    with contextlib.suppress(ImportError):
                        steps.pop(0)()
                    gc.collect()
                    gc.freeze()
                    if not steps:
                        self._report("loaded")

    def _report(self, stage: str) -> None:
        self._control.send({"event": "zygote", "stage": stage})

    def _serve(self) -> bool:
        while True:
            record = self._control.receive()
            if record is None:
                return False
            request, fds = record
            pid = self._fork(request, fds)
            self._resume_at = time.monotonic() + self._patience_s
            pidfd = linux.open_pidfd(pid)
            handles = [] if pidfd is None else [pidfd]
            reply = {key: request[key] for key in ("id", "process", "machine")}
            self._control.send({**reply, "forked": pid}, handles)
            for fd in (*fds, *handles):
                os.close(fd)
            if not self._control.pending():
                return True

    def _fork(self, request: Message, fds: list[int]) -> int:
        pidfd = fds[3] if request["joins"] else None
        if pidfd is not None:
            linux.setns(pidfd, linux.CLONE_NEWPID)
        try:
            pid = os.fork()
            if pid == 0:
                self._become_kernel(request, fds, pidfd)
        finally:
            if pidfd is not None:
                linux.setns(self._own, linux.CLONE_NEWPID)
        return pid

    def _become_kernel(self, request: Message, fds: list[int], pidfd: int | None) -> NoReturn:
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.setsid()
            join_cgroups(fds[3:] if pidfd is None else fds[4:])
            if pidfd is not None:
                join_namespaces(pidfd, own_network=request["own_network"])
            stream = fds[0]
            os.dup2(os.open(os.devnull, os.O_RDWR), 0)
            os.dup2(fds[1], 1)
            os.dup2(fds[2], 2)
            close_all_but([stream])
            os.environ.clear()
            os.environ.update(request["env"])
            confinement = Confinement(request["confinement"])
            # Inherited memory is shared with every fork; the limit is for further memory.
            if "DATA" in confinement.rlimits:
                confinement.rlimits["DATA"] += data_bytes()
            confinement.apply()
            os.chdir(request["workdir"])
            serve(self._kernel, stream, warm=request.get("warm", False))
        except BaseException as error:  # noqa: BLE001 - nothing may unwind into the zygote's loop
            os.write(2, f"the kernel could not start: {type(error).__name__}: {error}\n".encode())
            os._exit(70)
        os._exit(0)

    def _reap(self) -> None:
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self._control.send(
                {
                    "exited": pid,
                    "status": status,
                    "cpu_s": usage.ru_utime + usage.ru_stime,
                    "peak_rss": usage.ru_maxrss * 1024,
                }
            )


def serve(kernel: Any, stream: int, *, warm: bool) -> None:
    """Connect the kernel in its own process, and serve until the host hangs up."""
    from .wire import Wire

    linux.set_process_name("kernel")
    gc.enable()
    _reseed()
    main_module.set_command_line()
    sys.path.insert(0, "")
    kernel.attach(Wire(socket.socket(fileno=stream)))
    if warm:
        kernel.warm_up("print(1)", "1")
        _forget_results(kernel.shell)
    kernel.observer.install()
    main_module.hide_folder(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    try:
        kernel.serve()
    except BaseException as error:  # noqa: BLE001 - reported, and not taken for an exit
        with contextlib.suppress(OSError):
            os.write(2, f"the interpreter failed: {type(error).__name__}: {error}\n".encode())
        signal.signal(signal.SIGABRT, signal.SIG_DFL)
        os.abort()


def _reseed() -> None:
    """Seed this fork's random numbers."""
    random.seed()
    tempfile._name_sequence = None  # type: ignore[attr-defined]
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed(int.from_bytes(os.urandom(4), "little"))


def main() -> None:
    """Entry point: ``PRELOAD PATIENCE FD`` as arguments."""
    # All that is loaded here stays: garbage collections would be a tenth of the start.
    gc.disable()
    # A fork is interruptible once it has its own handler.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    preload, patience_s, fd = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    os.set_inheritable(fd, False)
    linux.set_process_name("zygote")
    kernel = build_bare()
    steps = preload_steps(kernel, preload)
    Zygote(ControlChannel(socket.socket(fileno=fd)), kernel, patience_s).run(steps)
    os._exit(0)


def main_cold() -> None:
    """Entry point of a kernel that is not forked, with its stream as standard input."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()
    stream = os.dup(0)
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    serve(build_bare(), stream, warm=False)
    os._exit(0)
