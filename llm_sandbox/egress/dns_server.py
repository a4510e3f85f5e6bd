"""Asks one DNS server for the addresses of names."""

import contextlib
import ipaddress
import os
import socket
import struct

from llm_sandbox.egress import dns_message
from llm_sandbox.egress.addresses import IpAddress
from llm_sandbox.egress.dns_message import FormatError, Response

__all__ = ["DnsServer"]

_TRY_S = 3.0
_TRIES = 2


class DnsServer:
    """A server that is asked over UDP, and over TCP for what is longer.

    Args:
        place: Its address, as ``address:port``.
    """

    def __init__(self, place: str) -> None:
        host, _, port = place.rpartition(":")
        self._place = (str(ipaddress.ip_address(host.strip("[]"))), int(port))

    def addresses(self, name: str) -> tuple[IpAddress, ...]:
        """The addresses of a name; none if there is no such name.

        Raises:
            OSError: The server did not answer, or could not.
        """
        found: list[IpAddress] = []
        for kind in (dns_message.A, dns_message.AAAA):
            response = self._ask(name, kind)
            if response is None and not found:
                raise TimeoutError(f"no answer from {self._place[0]}")
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
        family = socket.AF_INET6 if ":" in self._place[0] else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as line:
            line.settimeout(_TRY_S)
            line.connect(self._place)
            line.send(question)
            return line.recv(65535)

    def _by_stream(self, question: bytes) -> bytes:
        with (
            socket.create_connection(self._place, _TRY_S) as line,
            line.makefile("rb") as reader,
        ):
            line.sendall(struct.pack(">H", len(question)) + question)
            (size,) = struct.unpack(">H", reader.read(2))
            return reader.read(size)
