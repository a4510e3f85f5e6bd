"""Agents: helper processes that serve the host in a machine (its files, its ports, its network).

In a machine with a network namespace that the supervisor made, an agent runs beside the machine:
it has joined that one namespace and nothing else, keeps the rights that the supervisor has over it,
and no process of the machine sees it. Elsewhere it is one of the machine's own processes, confined
like them; where the supervisor has another user than they have, they cannot signal it. The file
service reads what programs wrote, so it is confined like them everywhere; see `launch_files`.
"""

from __future__ import annotations

import os
import signal
import socket

from . import files, linux
from .confinement import close_all_but
from .constants import PASSED, PRESENT, REFUSED, RELAYED
from .machine import NamespaceMachine, PlainMachine
from .relay import Relay

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import NoReturn

    from .control import Message

_LOOPBACK = "127.0.0.1"
_CONNECT_S = 10.0


def launch(machine: PlainMachine, request: Message, connection: int) -> int:
    """Start an agent, and return its pid.

    Args:
        machine: Its machine.
        request: ``serves`` names its service: ``files``, ``port`` with a number, ``root`` with the
            ``limit`` of the archive, ``proxy``, or ``presence``.
        connection: Its connection to the host.
    """
    if request["serves"] == "files":
        return launch_files(machine, connection)
    if request["serves"] == "port":
        return launch_connect(machine, request["port"], connection)
    if request["serves"] == "root":
        return launch_root(machine, request["limit"], connection)
    if request["serves"] == "proxy":
        return launch_proxy(machine, connection)
    return launch_presence(machine, connection)


def launch_files(machine: PlainMachine, connection: int) -> int:
    """Start the file service of a machine, and return its pid.

    It has the machine's root, user and confinement, but is not one of its processes: a program that
    could stop it could block the host.
    """

    def child() -> NoReturn:
        signal.set_wakeup_fd(-1)
        # Before it is confined as the machine's processes are, and again after: dropping
        # capabilities makes a process readable for others of its user.
        linux.set_undumpable()
        # While /proc shows this process: the machine's may not.
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

    return machine.fork_agent(child)


def launch_root(machine: PlainMachine, limit: int, connection: int) -> int:
    """Start an agent that sends the changes in a machine's writable root, and return its pid.

    Raises:
        OSError: The root is read-only.
    """
    root = machine.root
    if root is None:
        raise OSError("the machine's root is read-only")

    def serve() -> None:
        from .bulk import Connection
        from .overlay import send_root

        send_root(root, Connection(socket.socket(fileno=connection)), limit)

    return _launch(machine, connection, serve, name="root", keep_open=[root])


def launch_presence(machine: PlainMachine, reply: int) -> int:
    """Start an agent that stays in a machine's network until the host hangs up; return its pid.

    The kernel translates its pid in the credentials that the host receives, and the host finds the
    network by that pid.

    Args:
        machine: The machine.
        reply: A connected stream socket, on whose other end credentials are received.
    """

    def serve() -> None:
        with socket.socket(fileno=reply) as answer:
            answer.sendall(PRESENT)
            answer.recv(1)

    return _launch(machine, reply, serve, name="network")


def launch_connect(machine: PlainMachine, port: int, reply: int) -> int:
    """Start an agent that connects to a port of a machine's loopback, and return its pid.

    Args:
        machine: The machine.
        port: The port.
        reply: A connected stream socket. It gets one byte: `PASSED` with the connection itself,
            where a descriptor can be passed to the host, `RELAYED`, after which it is the
            connection, or `REFUSED` and the error number in text.
    """
    beside = isinstance(machine, NamespaceMachine)

    def serve() -> None:
        answer = socket.socket(fileno=reply)
        try:
            made = socket.create_connection((_LOOPBACK, port), _CONNECT_S)
        except OSError as error:
            answer.sendall(REFUSED + str(error.errno or 0).encode())
            return
        made.settimeout(None)
        if beside:
            socket.send_fds(answer, [PASSED], [made.fileno()])
            return
        answer.sendall(RELAYED)
        relay = Relay()
        relay.add(answer, made)
        relay.run(until_empty=True)

    return _launch(machine, reply, serve, name="tunnel")


def launch_proxy(machine: PlainMachine, reply: int) -> int:
    """Start an agent that listens for connections to the host's proxy, and return its pid.

    Args:
        machine: The machine, on whose loopback it listens.
        reply: A connected stream socket; see `connections.serve`.
    """

    def serve() -> None:
        from . import connections

        connections.serve(socket.socket(fileno=reply))

    return _launch(machine, reply, serve, name="proxy")


def _launch(
    machine: PlainMachine,
    connection: int,
    serve: Callable[[], None],
    *,
    name: str,
    keep_open: Sequence[int] = (),
) -> int:
    def child() -> NoReturn:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        if isinstance(machine, NamespaceMachine):
            machine.join_network()
            linux.drop_all_capabilities()
        else:
            # As in `launch_files`: one of the machine's processes, unreadable for the others.
            linux.set_undumpable()
            machine.join()
            machine.spec.confinement.apply(serves_host=True)
            linux.set_undumpable()
        linux.set_process_name(name)
        close_all_but([connection, *keep_open])
        serve()
        os._exit(0)

    return machine.fork_agent(child)
