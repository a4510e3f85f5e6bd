"""Resolver of allowed names, in threads: by the host's resolver or a DNS server of its own."""

import collections
import contextlib
import ipaddress
import os
import queue
import socket
import struct
import threading
import time
from collections.abc import Callable

from llm_sandbox.egress import dns_message
from llm_sandbox.egress.addresses import IpAddress
from llm_sandbox.egress.dns_message import FormatError, Response
from llm_sandbox.egress.loop import Loop

__all__ = ["Answer", "DnsServer", "Resolver"]

Answer = tuple[IpAddress, ...] | None
"""Addresses of a name, none if there is no such name; None if no server answered."""

_THREADS = 8
_MOST_WAITING = 512
_MOST_KEPT = 4096
_KEPT_S = 5.0
_MOST_ADDRESSES = 16


_TRY_S = 3.0
_TRIES = 2


class DnsServer:
    """DNS server, queried over UDP, and over TCP for longer answers.

    Args:
        address: Its address, as ``address:port``.
    """

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._address = (str(ipaddress.ip_address(host.strip("[]"))), int(port))

    def addresses(self, name: str) -> tuple[IpAddress, ...]:
        """Return the addresses of a name; none if there is no such name.

        Raises:
            OSError: The server did not answer, or failed.
        """
        found: list[IpAddress] = []
        for kind in (dns_message.A, dns_message.AAAA):
            response = self._ask(name, kind)
            if response is None and not found:
                raise TimeoutError(f"no answer from {self._address[0]}")
            if response is not None:
                found.extend(map(ipaddress.ip_address, response.addresses))
        return tuple(found)

    def _ask(self, name: str, kind: int) -> Response | None:
        for _ in range(_TRIES):
            number = int.from_bytes(os.urandom(2), "big")
            question = dns_message.make_query(number, name, kind)
            for way in (self._by_datagram, self._by_stream):
                with contextlib.suppress(OSError, struct.error, FormatError):
                    response = dns_message.read_response(way(question), number, name, kind)
                    if response.truncated:
                        continue
                    if response.code in (dns_message.OK, dns_message.NXDOMAIN):
                        return response
                break
        return None

    def _by_datagram(self, question: bytes) -> bytes:
        family = socket.AF_INET6 if ":" in self._address[0] else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as connection:
            connection.settimeout(_TRY_S)
            connection.connect(self._address)
            connection.send(question)
            return connection.recv(65535)

    def _by_stream(self, question: bytes) -> bytes:
        with (
            socket.create_connection(self._address, _TRY_S) as connection,
            connection.makefile("rb") as reader,
        ):
            connection.sendall(struct.pack(">H", len(question)) + question)
            (size,) = struct.unpack(">H", reader.read(2))
            return reader.read(size)


class Resolver:
    """Cache and threads that resolve names.

    Only names that the rules allow may be passed to it: it checks no rules.

    Args:
        loop: The loop that runs the callbacks.
        server: A DNS server, as ``address:port``; None for the host's resolver.
    """

    def __init__(self, loop: Loop, server: str | None = None) -> None:
        self._loop = loop
        self._find = DnsServer(server).addresses if server else _from_host
        self._waiting: dict[str, list[Callable[[Answer], None]]] = {}
        self._kept: collections.OrderedDict[str, tuple[float, Answer]] = collections.OrderedDict()
        self._names: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._threads = 0

    def look_up(self, name: str, callback: Callable[[Answer], None]) -> None:
        """Call back with the addresses of a name, at once if they are cached."""
        kept = self._kept.get(name)
        if kept is not None and kept[0] > time.monotonic():
            callback(kept[1])
            return
        if name in self._waiting:
            self._waiting[name].append(callback)
            return
        if len(self._waiting) >= _MOST_WAITING:
            callback(None)
            return
        self._waiting[name] = [callback]
        self._names.put(name)
        if self._threads < min(_THREADS, len(self._waiting)):
            self._threads += 1
            threading.Thread(target=self._work, name="resolver", daemon=True).start()

    def _work(self) -> None:
        while True:
            name = self._names.get()
            try:
                answer: Answer = self._find(name)[:_MOST_ADDRESSES]
            except (OSError, ValueError):
                answer = None
            self._loop.post(lambda name=name, answer=answer: self._arrived(name, answer))  # type: ignore[misc]

    def _arrived(self, name: str, answer: Answer) -> None:
        if answer is not None:
            self._kept.pop(name, None)
            self._kept[name] = (time.monotonic() + _KEPT_S, answer)
            if len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        for callback in self._waiting.pop(name, ()):
            callback(answer)


def _from_host(name: str) -> tuple[IpAddress, ...]:
    try:
        # Bytes: `getaddrinfo` would encode a text once more (IDNA).
        found = socket.getaddrinfo(name.encode("ascii"), None, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        if error.errno in (socket.EAI_NONAME, socket.EAI_NODATA):
            return ()
        raise
    # An address with a zone belongs to one interface, and is not public.
    return tuple(ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found)
