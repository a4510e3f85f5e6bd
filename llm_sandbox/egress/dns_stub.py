"""Answers a sandbox's DNS questions: allowed names get addresses that stand for them."""

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
    """Gives names addresses of a range that nothing on the internet is in.

    Args:
        most: How many names are known at once; beyond that the one asked for longest ago is
            forgotten, and its address not given again before all others were.
    """

    def __init__(self, most: int = _MAX_NAMES) -> None:
        self.range = ipaddress.IPv4Network(SYNTHETIC_RANGE)
        self._most = most
        self._next = 0
        self._by_name: collections.OrderedDict[str, int] = collections.OrderedDict()
        self._by_address: dict[int, str] = {}

    def address(self, name: str) -> ipaddress.IPv4Address:
        """The address that stands for a name."""
        if name not in self._by_name:
            if len(self._by_name) >= self._most:
                _, forgotten = self._by_name.popitem(last=False)
                del self._by_address[forgotten]
            # More addresses than names, so that a free one comes.
            usable = self.range.num_addresses - 2
            while (number := 1 + self._next % usable) in self._by_address:
                self._next += 1
            self._next += 1
            self._by_name[name] = number
            self._by_address[number] = name
        self._by_name.move_to_end(name)
        return self.range[self._by_name[name]]

    def name(self, address: ipaddress.IPv4Address) -> str | None:
        """The name that an address stands for; None if it stands for none."""
        return self._by_address.get(int(address) - int(self.range.network_address))

    def __contains__(self, address: object) -> bool:
        return address in self.range


class DnsStub:
    """Answers questions over UDP and TCP.

    A question for a name that is not allowed is answered here: nothing of it leaves. One for an
    allowed name is answered when the name was found to exist.

    Args:
        matcher: What holds names against the rules; may be replaced at any time.
        loop: What watches the sockets.
        event_log: Where refusals go.
        names: What stands for names.
        resolver: What looks allowed names up.
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
        """Answer what comes to a UDP socket."""
        self._loop.watch(sock.fileno(), EVENTS_READ, lambda _: self._receive(sock))

    def serve_streams(self, listener: socket.socket) -> None:
        """Answer what comes over connections to a TCP socket."""
        self._loop.watch(listener.fileno(), EVENTS_READ, lambda _: self._accept(listener))

    def answer(self, data: bytes, reply: Callable[[bytes], None]) -> None:
        """Answer a question, now or when its name was looked up; none to what is no question."""
        try:
            question = dns_message.read_query(data)
        except dns_message.FormatError:
            return
        verdict = self.matcher.name(question.name)
        if not verdict.allowed:
            # Programs ask for the names of addresses only to show them.
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
                continue  # an earlier answer met nobody
            self.answer(data, _datagram_reply(sock, peer, ancillary))

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            sock, _ = listener.accept()
            if len(self._streams) >= _MOST_STREAMS:
                # The one that was opened first has had the longest time.
                next(iter(self._streams)).close()
            _Stream(sock, self, self._loop, self._streams)


def _datagram_reply(
    sock: socket.socket, peer: tuple[str, int], ancillary: list[tuple[int, int, bytes]]
) -> Callable[[bytes], None]:
    asked = b""
    for level, kind, value in ancillary:
        if level == socket.IPPROTO_IP and kind == _PKTINFO:
            asked = value[8:12]
    # No interface: the address alone says where the answer comes from.
    source = [(socket.IPPROTO_IP, _PKTINFO, struct.pack("=I4s4x", 0, asked))] if asked else []

    def reply(answer: bytes) -> None:
        with contextlib.suppress(OSError):  # who asked has gone, or does not read
            sock.sendmsg([answer], source, 0, peer)

    return reply


class _Stream:
    """One connection with questions."""

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
        self.close()  # it does not read its answers

    def close(self) -> None:
        """Close the connection."""
        if self._sock.fileno() >= 0:
            self._loop.forget(self._sock.fileno())
            self._sock.close()
        self._streams.pop(self, None)
