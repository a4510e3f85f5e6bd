"""DNS stub server of a sandbox: allowed names get synthetic addresses."""

import collections
import contextlib
import ipaddress
import socket
import struct
from collections.abc import Callable

from llm_sandbox.egress import dns_message
from llm_sandbox.egress.dns_message import Question
from llm_sandbox.egress.event_log import EventLog
from llm_sandbox.egress.loop import EVENTS_READ, Loop
from llm_sandbox.egress.resolver import Answer, Resolver
from llm_sandbox.egress.rules import RuleMatcher
from llm_sandbox.network import SYNTHETIC_RANGE

__all__ = ["DnsStub", "SyntheticNames"]

_TTL_S = 30
_LARGEST = 4096
_MOST_STREAMS = 32
_MOST_AT_ONCE = 64
_PKTINFO = 8  # socket.IP_PKTINFO, which Python 3.11 lacks
_REVERSE = (".in-addr.arpa", ".ip6.arpa")


_MAX_NAMES = 65536


class SyntheticNames:
    """Synthetic addresses of names, from a range that the internet does not use.

    Args:
        most: Number of names at once; beyond that the least recently used one is dropped, and its
            address is not reused before all others were.
    """

    def __init__(self, most: int = _MAX_NAMES) -> None:
        self.range = ipaddress.IPv4Network(SYNTHETIC_RANGE)
        self._most = most
        self._next = 0
        self._by_name: collections.OrderedDict[str, int] = collections.OrderedDict()
        self._by_address: dict[int, str] = {}

    def address(self, name: str) -> ipaddress.IPv4Address:
        """Return the synthetic address of a name."""
        if name not in self._by_name:
            if len(self._by_name) >= self._most:
                _, forgotten = self._by_name.popitem(last=False)
                del self._by_address[forgotten]
            # There are more addresses than names, so that one is free.
            usable = self.range.num_addresses - 2
            while (number := 1 + self._next % usable) in self._by_address:
                self._next += 1
            self._next += 1
            self._by_name[name] = number
            self._by_address[number] = name
        self._by_name.move_to_end(name)
        return self.range[self._by_name[name]]

    def name(self, address: ipaddress.IPv4Address) -> str | None:
        """Return the name of a synthetic address; None if it has none."""
        return self._by_address.get(int(address) - int(self.range.network_address))

    def __contains__(self, address: object) -> bool:
        return address in self.range


class DnsStub:
    """Stub server over UDP and TCP.

    A query for a name that is not allowed is answered here: nothing of it leaves. One for an
    allowed name is answered once the name is known to exist.

    Args:
        matcher: The rules; may be replaced at any time.
        loop: The loop that watches the sockets.
        event_log: The log of refusals.
        names: The synthetic addresses.
        resolver: The resolver of allowed names.
    """

    def __init__(
        self,
        matcher: RuleMatcher,
        loop: Loop,
        event_log: EventLog,
        names: SyntheticNames,
        resolver: Resolver,
    ) -> None:
        self.matcher = matcher
        self.allowed = 0
        self._loop = loop
        self._event_log = event_log
        self._names = names
        self._resolver = resolver
        self._streams: dict[_Stream, None] = {}  # in the order of their opening

    def serve_datagrams(self, sock: socket.socket) -> None:
        """Answer the queries that arrive on a UDP socket."""
        self._loop.watch(sock.fileno(), EVENTS_READ, lambda _: self._receive(sock))

    def serve_streams(self, listener: socket.socket) -> None:
        """Answer the queries of connections to a TCP socket."""
        self._loop.watch(listener.fileno(), EVENTS_READ, lambda _: self._accept(listener))

    def answer(self, data: bytes, reply: Callable[[bytes], None]) -> None:
        """Answer a query, now or when its name is resolved; ignore an invalid one."""
        try:
            question = dns_message.read_query(data)
        except dns_message.FormatError:
            return
        verdict = self.matcher.name(question.name)
        if not verdict.allowed:
            # Programs look up the names of addresses only to show them.
            if not question.name.endswith(_REVERSE):
                self._event_log.add("dns", str(verdict.reason), name=question.name)
            reply(dns_message.make_answer(question, dns_message.NXDOMAIN))
        elif question.kind not in (dns_message.A, dns_message.ANY):
            reply(dns_message.make_answer(question, dns_message.OK))
        elif self.matcher.pinned(question.name) is not None:
            self._allow(question, reply)
        else:
            self._resolver.look_up(
                question.name, lambda answer: self._found(question, answer, reply)
            )

    def _found(self, question: Question, answer: Answer, reply: Callable[[bytes], None]) -> None:
        if answer:
            self._allow(question, reply)
            return
        self._event_log.add("dns", "not_resolved", name=question.name, verdict="failed")
        code = dns_message.SERVFAIL if answer is None else dns_message.NXDOMAIN
        reply(dns_message.make_answer(question, code))

    def _allow(self, question: Question, reply: Callable[[bytes], None]) -> None:
        self.allowed += 1
        address = self._names.address(question.name)
        reply(dns_message.make_answer(question, dns_message.OK, address, _TTL_S))

    def _receive(self, sock: socket.socket) -> None:
        for _ in range(_MOST_AT_ONCE):
            try:
                data, ancillary, _, peer = sock.recvmsg(_LARGEST, socket.CMSG_SPACE(12))
            except BlockingIOError:
                return
            except OSError:
                continue  # an earlier answer was not received
            self.answer(data, _datagram_reply(sock, peer, ancillary))

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            sock, _ = listener.accept()
            if len(self._streams) >= _MOST_STREAMS:
                # The oldest one has had the most time.
                next(iter(self._streams)).close()
            _Stream(sock, self, self._loop, self._streams)


def _datagram_reply(
    sock: socket.socket, peer: tuple[str, int], ancillary: list[tuple[int, int, bytes]]
) -> Callable[[bytes], None]:
    queried = b""
    for level, kind, value in ancillary:
        if level == socket.IPPROTO_IP and kind == _PKTINFO:
            queried = value[8:12]
    # Interface 0: the address alone sets the source of the answer.
    source = [(socket.IPPROTO_IP, _PKTINFO, struct.pack("=I4s4x", 0, queried))] if queried else []

    def reply(answer: bytes) -> None:
        with contextlib.suppress(OSError):  # the client is gone, or does not read
            sock.sendmsg([answer], source, 0, peer)

    return reply


class _Stream:
    """One TCP connection with queries."""

    def __init__(
        self, sock: socket.socket, stub: DnsStub, loop: Loop, streams: "dict[_Stream, None]"
    ) -> None:
        self._sock = sock
        self._stub = stub
        self._loop = loop
        self._streams = streams
        self._data = bytearray()
        sock.setblocking(False)
        streams[self] = None
        loop.watch(sock.fileno(), EVENTS_READ, self._ready)

    def _ready(self, _: int) -> None:
        try:
            data = self._sock.recv(_LARGEST)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.close()
            return
        self._data += data
        while self._sock.fileno() >= 0 and len(self._data) >= 2:
            size = int.from_bytes(self._data[:2], "big")
            if len(self._data) < 2 + size:
                return
            question = bytes(self._data[2 : 2 + size])
            del self._data[: 2 + size]
            self._stub.answer(question, self._reply)

    def _reply(self, answer: bytes) -> None:
        record = struct.pack(">H", len(answer)) + answer
        try:
            if self._sock.fileno() < 0 or self._sock.send(record) == len(record):
                return
        except OSError:
            pass
        self.close()  # the client does not read its answers

    def close(self) -> None:
        """Close the connection."""
        if self._sock.fileno() >= 0:
            self._loop.forget(self._sock.fileno())
            self._sock.close()
        self._streams.pop(self, None)
