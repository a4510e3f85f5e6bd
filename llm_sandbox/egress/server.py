"""Gate process: holds the sockets, checks connections against the rules, dials and relays.

Started as ``python -I -S -c '... server.main(FD)'``. The descriptor is a control connection on
which every message gets an answer:

    {do: take, kinds} with descriptors   the sockets
    {do: start, rules, resolver, redirected, interception?} -> {authority?}
    {do: update, rules} -> {cut}         new rules; connections that they do not allow are closed
    {do: events} -> {events}
    {do: stats} -> {stats}

It ends when the control connection does, and its sockets and connections are closed with it.
One kind of socket, ``proxy``, is a byte stream with connections of programs, which another thread
takes apart (`carried_connections`).
"""

import contextlib

# Rules with names may arrive after the privileges are dropped, and with them the right to read
# root's Python files.
import encodings.idna  # noqa: F401
import ipaddress
import os
import resource
import socket
import struct
import sys
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

from llm_sandbox.egress.carried_connections import CarriedConnections
from llm_sandbox.egress.dns_stub import DnsStub, SyntheticNames
from llm_sandbox.egress.event_log import EventLog
from llm_sandbox.egress.flow import Flow, reset
from llm_sandbox.egress.loop import EVENTS_READ, Loop
from llm_sandbox.egress.proxy_client import ProxyClient, ProxyFlow
from llm_sandbox.egress.proxy_request import ProxyRequest
from llm_sandbox.egress.resolver import Resolver
from llm_sandbox.egress.rules import RuleMatcher
from llm_sandbox.guest import linux
from llm_sandbox.guest.control import ControlChannel
from llm_sandbox.network import NetworkRules

if TYPE_CHECKING:
    from llm_sandbox.egress.interception.interception import Interception

__all__ = ["Server", "main"]

_ORIGINAL_TARGET = 80  # SO_ORIGINAL_DST
_MOST_FLOWS, _LEAST_FLOWS = 1024, 32
_FDS_OF_FLOW = 7
_OTHER_FDS = 400
_MOST_AT_ONCE = 64
_LOWEST_USER = 1_700_000_000
"""Gates of root run each as a user of its own, numbered from here up; no account has these."""


class Server:
    """State of one gate.

    Args:
        channel: The host's control connection.
    """

    def __init__(self, channel: ControlChannel) -> None:
        self.loop = Loop()
        self.event_log = EventLog()
        self.names = SyntheticNames()
        self.matcher = RuleMatcher(NetworkRules())
        self.resolver = Resolver(self.loop)
        self.interception: Interception | None = None
        self._stub: DnsStub | None = None
        self._channel = channel
        self._sockets: list[tuple[str, socket.socket]] = []
        self._redirected = True
        self._flows: dict[Flow, None] = {}
        self._carrier: CarriedConnections | None = None
        self._clients: dict[int, ProxyClient | ProxyFlow] = {}
        self._most_flows = _MOST_FLOWS
        self._carried = 0
        self._bytes = [0, 0]

    def run(self) -> None:
        """Serve until the control connection ends."""
        self.loop.watch(self._channel.fileno(), EVENTS_READ, lambda _: self._serve_control())
        self.loop.sweeps.append(self._sweep)
        self.loop.run()

    # --- control connection

    def _serve_control(self) -> None:
        while True:
            record = self._channel.receive()
            if record is None:
                os._exit(0)
            message, fds = record
            try:
                answer = self._obey(message, fds)
            except (KeyError, OSError, ValueError) as error:
                answer = {"error": f"{type(error).__name__}: {error}"}
            self._channel.send(answer)
            if not self._channel.pending():
                return

    def _obey(self, message: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        match message["do"]:
            case "take":
                opened = [socket.socket(fileno=fd) for fd in fds]
                self._sockets += zip(message["kinds"], opened, strict=True)
            case "start":
                self._start(message)
                if self.interception is not None:
                    return {"authority": self.interception.authority.certificate}
            case "update":
                return {"cut": self._update(message["rules"])}
            case "events":
                return {"events": self.event_log.events()}
            case "stats":
                return {"stats": self._stats()}
        return {}

    def _start(self, message: dict[str, Any]) -> None:
        self._redirected = message["redirected"]
        room = (_raise_open_files() - _OTHER_FDS) // _FDS_OF_FLOW
        self._most_flows = max(_LEAST_FLOWS, room)
        self.resolver = Resolver(self.loop, message["resolver"])
        self._stub = DnsStub(self.matcher, self.loop, self.event_log, self.names, self.resolver)
        self._update(message["rules"])
        if "interception" in message:
            # Before the rights to read the packages are dropped.
            self.interception = _interception(message["interception"])
        _confine()
        for kind, sock in self._sockets:
            if kind == "dns_udp":
                self._stub.serve_datagrams(sock)
            elif kind == "dns_tcp":
                self._stub.serve_streams(sock)
            elif kind == "proxy":
                self._carrier = CarriedConnections(sock, self)
            else:
                self._listen(sock)

    def _update(self, rules: dict[str, Any]) -> int:
        self.matcher = RuleMatcher(NetworkRules.from_dict(rules))
        if self._stub is not None:
            self._stub.matcher = self.matcher
        return sum(not flow.recheck() for flow in list(self._flows))

    def _stats(self) -> dict[str, int]:
        live = [flow.totals for flow in self._flows]
        return {
            "open": len(self._flows),
            "carried": self._carried,
            "denied": self.event_log.denied,
            "names": self._stub.allowed if self._stub is not None else 0,
            "bytes_out": self._bytes[0] + sum(out for out, _ in live),
            "bytes_in": self._bytes[1] + sum(back for _, back in live),
            "last_event": self.event_log.last,
        }

    # --- connections

    def opened(self, _: Flow) -> None:
        """See `FlowContext`."""
        self._carried += 1

    def closed(self, flow: Flow) -> None:
        """See `FlowContext`."""
        self._flows.pop(flow, None)
        for index, total in enumerate(flow.totals):
            self._bytes[index] += total

    def _listen(self, listener: socket.socket) -> None:
        def accept(_: int) -> None:
            for _ in range(_MOST_AT_ONCE):
                try:
                    sock, _ = listener.accept()
                except OSError:
                    return
                self._take(sock, listener)

        self.loop.watch(listener.fileno(), EVENTS_READ, accept)

    def _take(self, sock: socket.socket, listener: socket.socket) -> None:
        try:
            address, port = self._target(sock)
        except OSError:
            reset(sock)  # it is closed already
            return
        own = self._redirected and (str(address), port) == listener.getsockname()
        name = self.names.name(address) if address in self.names else None
        reason = None
        if own:
            reason = "never"  # its destination is this listener itself
        elif address in self.names and name is None:
            reason = "unknown_synthetic"
        elif name is not None:
            reason = self.matcher.name(name, port).reason
        else:
            reason = self.matcher.literal(address, port).reason
        if reason is None and len(self._flows) >= self._most_flows:
            reason = "too_many"
        if reason is not None:
            shown = None if name is not None else address
            self.event_log.add("tcp", reason, name=name, address=shown, port=port)
            reset(sock)
            return
        flow = Flow(self, sock, name, address, port)
        self._flows[flow] = None
        flow.start()

    # --- connections to the proxy; those that bring them are another thread

    def arrived(self, number: int, sock: socket.socket) -> None:
        """See `ConnectionUser`."""
        self.loop.post(partial(self._serve_program, number, sock))

    def failed(self, number: int) -> None:
        """See `ConnectionUser`."""

        def close() -> None:
            client = self._clients.get(number)
            if client is not None:
                client.close()

        self.loop.post(close)

    def cut(self, done: threading.Event) -> None:
        """See `ConnectionUser`."""

        def close() -> None:
            for client in list(self._clients.values()):
                client.close()
            done.set()

        self.loop.post(close)

    def objection(self, request: ProxyRequest) -> str | None:
        """See `ProxyContext`."""
        name, address, port = request.name, request.address, request.port
        reason: str | None = "never"  # as everywhere in a sandbox, IPv6 by its number
        if name is not None:
            reason = self.matcher.name(name, port).reason
        elif isinstance(address, ipaddress.IPv4Address):
            reason = self.matcher.literal(address, port).reason
        if reason is None and len(self._flows) >= self._most_flows:
            reason = "too_many"
        return reason

    def begin(self, flow: ProxyFlow) -> None:
        """See `ProxyContext`."""
        self._flows[flow] = None
        self._clients[flow.number] = flow
        flow.start()

    def left(self, number: int) -> None:
        """See `ProxyContext`."""
        self._clients.pop(number, None)

    def mark_failed(self, number: int) -> None:
        """See `ProxyContext`."""
        if self._carrier is not None:
            self._carrier.mark_failed(number)

    def _serve_program(self, number: int, sock: socket.socket) -> None:
        self._clients[number] = ProxyClient(self, number, sock)

    def _target(self, sock: socket.socket) -> tuple[ipaddress.IPv4Address, int]:
        """Return the original destination of a connection."""
        if not self._redirected:
            host, port = sock.getsockname()
            return ipaddress.IPv4Address(host), port
        record = sock.getsockopt(socket.IPPROTO_IP, _ORIGINAL_TARGET, 16)
        port, packed = struct.unpack_from(">2xH4s", record)
        return ipaddress.IPv4Address(packed), port

    def _sweep(self, now: float) -> None:
        for flow in list(self._flows):
            flow.sweep(now)
        for client in list(self._clients.values()):
            if isinstance(client, ProxyClient):
                client.sweep(now)


def _interception(given: dict[str, Any]) -> "Interception":
    """Load the packages for interception, and return it."""
    sys.path += given["library_paths"]
    from llm_sandbox.egress.interception.interception import Interception

    return Interception(given["bindings"], given["trusted"])


def _raise_open_files() -> int:
    """Raise the limit of open files as far as is needed and allowed, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = _MOST_FLOWS * _FDS_OF_FLOW + _OTHER_FDS
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    if soft == resource.RLIM_INFINITY or soft >= limit:
        return limit
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    return limit


def _confine() -> None:
    """Drop every privilege for good: all that is read from here on comes from inside."""
    linux.set_undumpable()
    if os.geteuid() == 0:
        linux.drop_bounding_set()
        user = _LOWEST_USER + int.from_bytes(os.urandom(3), "little")
        with contextlib.suppress(OSError):  # the user namespace may have no such user
            linux.set_user(user, user)
    linux.drop_all_capabilities()
    linux.set_no_new_privileges()
    linux.set_undumpable()


def main(fd: int) -> None:
    """Entry point."""
    linux.set_process_name("llm-sandbox")
    # No search domains: the resolved name is to the letter the one that was checked.
    os.environ["LOCALDOMAIN"] = ""
    try:
        Server(ControlChannel(socket.socket(fileno=fd))).run()
    except KeyboardInterrupt:
        sys.exit(130)
