"""Sockets in a sandbox's network namespace, opened by a short-lived process that enters it."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from llm_sandbox.exceptions import BackendUnavailableError, UnsupportedError
from llm_sandbox.guest.control import ControlChannel
from llm_sandbox.network import NetworkRules

__all__ = ["NetnsSockets", "open_netns_sockets", "ports_of"]

_PACKAGE = Path(__file__).parents[1]
_WAIT_S = 30.0


@dataclass
class NetnsSockets:
    """Listening sockets of one network namespace."""

    fds: list[tuple[str, int]]
    """Kind (``tcp``, ``dns_udp``, ``dns_tcp``) and descriptor; ``proxy`` for a byte stream of
    connections to the gate, where the namespace cannot be entered."""
    redirected: bool
    """Whether the kernel redirects every connection to them. Otherwise (no nf_tables) they listen
    on the ports that the rules named when they were opened."""
    ports: frozenset[int] | None = None
    """Those ports, without a redirection."""

    def close(self) -> None:
        """Close them in this process; connections are refused unless a gate has them."""
        while self.fds:
            os.close(self.fds.pop()[1])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_netns_sockets(
    process: int, rules: NetworkRules, *, backend: str | None = None, redirect: bool = True
) -> NetnsSockets:
    """Redirect all traffic of a network namespace to new sockets in it, and return them.

    The namespace has to be a sandbox's own, with nothing but loopback. Call this once for each,
    before code runs there. Root can do it for any process, an ordinary user for those in a network
    namespace that belongs to a user namespace of theirs (bubblewrap's).

    Args:
        process: Pid of a process in the namespace, as this process sees it.
        rules: The first rules. They matter only where the kernel has no nf_tables.
        backend: Name of the sandbox's backend, for messages.
        redirect: Whether a redirection by the kernel is tried; False to listen port by port.

    Raises:
        BackendUnavailableError: The namespace cannot be entered or set up.
        UnsupportedError: There is no nf_tables, and the rules name no ports.
    """
    code = (
        f"import sys; sys.path.insert(0, {str(_PACKAGE)!r}); "
        "from guest import netns_sockets; netns_sockets.main(int(sys.argv[1]))"
    )
    near, far = socket.socketpair()
    with contextlib.closing(ControlChannel(near)) as channel:
        near.settimeout(_WAIT_S)
        with far:
            child = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", code, str(far.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(far.fileno(),),
                start_new_session=True,
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
            )
        try:
            return _receive_sockets(
                channel,
                {"process": process, "ports": ports_of(rules), "redirect": redirect},
                backend,
            )
        except (OSError, EOFError) as error:
            child.send_signal(signal.SIGKILL)
            stderr = child.stderr.read().decode(errors="replace").strip() if child.stderr else ""
            raise BackendUnavailableError(
                f"no gate could be put into the network of process {process}: "
                f"{stderr.splitlines()[-1] if stderr else str(error) or 'it ended at once'}",
                backend=backend,
            ) from None
        finally:
            child.kill()
            child.communicate()


def _receive_sockets(
    channel: ControlChannel, request: dict[str, Any], backend: str | None
) -> NetnsSockets:
    channel.send(request)
    sockets = NetnsSockets([], redirected=True)
    try:
        while True:
            record = channel.receive()
            if record is None:
                raise EOFError
            message, fds = record
            sockets.fds += zip(message.get("kinds", ()), fds, strict=True)
            if message["state"] == "ready":
                sockets.redirected = message["redirected"]
                sockets.ports = None if sockets.redirected else frozenset(request["ports"])
                return sockets
            if message["state"] == "no_ports":
                raise UnsupportedError(
                    "network rules without ports",
                    backend,
                    "this kernel has no nf_tables for other users' namespaces, so that connections "
                    "are taken port by port",
                    hint="give every rule a port, or NetworkRules.allow(ports=[80, 443])",
                )
            if message["state"] == "failed":
                raise BackendUnavailableError(
                    f"no gate could be put into the network of process {request['process']}: "
                    f"{message['error']}",
                    backend=backend,
                )
    except BaseException:
        sockets.close()
        raise


def ports_of(rules: NetworkRules) -> list[int] | None:
    """Return every port that rules allow; None for all."""
    ports = set(rules.ports)
    for rule in (*rules.domains, *rules.cidrs):
        port = rule.rpartition(":")[2] if rule.count(":") == 1 else ""
        if port.isdecimal():
            ports.add(int(port))
        elif not rules.ports:
            return None
    if (rules.public or rules.hosts) and not rules.ports:
        return None
    return sorted(ports)
