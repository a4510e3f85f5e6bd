"""Looks allowed names up, in threads, as the host does or at a server of its own."""

import collections
import ipaddress
import queue
import socket
import threading
import time
from collections.abc import Callable

from llm_sandbox.egress.addresses import IpAddress
from llm_sandbox.egress.dns_server import DnsServer
from llm_sandbox.egress.loop import Loop

__all__ = ["Answer", "Resolver"]

Answer = tuple[IpAddress, ...] | None
"""The addresses of a name, none if there is no such name; None if nobody answered."""

_THREADS = 8
_MOST_WAITING = 512
_MOST_KEPT = 4096
_KEPT_S = 5.0
_MOST_ADDRESSES = 16


class Resolver:
    """Finds the addresses of names.

    Only names that were judged may be given to it: it judges nothing.

    Args:
        loop: Where answers are handed out.
        server: A DNS server, as ``address:port``; None for the host's own way.
    """

    def __init__(self, loop: Loop, server: str | None = None) -> None:
        self._loop = loop
        self._find = DnsServer(server).addresses if server else _from_host
        self._waiting: dict[str, list[Callable[[Answer], None]]] = {}
        self._kept: collections.OrderedDict[str, tuple[float, Answer]] = collections.OrderedDict()
        self._names: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._threads = 0

    def look_up(self, name: str, callback: Callable[[Answer], None]) -> None:
        """Call back with a name's addresses, at once if they are known still."""
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
        # Bytes: a name that is ASCII already is not to be read as anything else.
        found = socket.getaddrinfo(name.encode("ascii"), None, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        if error.errno in (socket.EAI_NONAME, socket.EAI_NODATA):
            return ()
        raise
    # An address with a zone is of one interface only, and so no public one.
    return tuple(ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found)
