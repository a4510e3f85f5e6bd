"""One outbound connection of a sandbox: checked, dialled and relayed to its end."""

import contextlib
import errno
import socket
import struct
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from llm_sandbox.egress import client_hello
from llm_sandbox.egress.addresses import IpAddress
from llm_sandbox.egress.direction import Direction
from llm_sandbox.egress.event_log import EventLog
from llm_sandbox.egress.interception.refusal import Refusal
from llm_sandbox.egress.loop import EVENTS_BOTH, FAILED, Loop
from llm_sandbox.egress.resolver import Answer, Resolver
from llm_sandbox.egress.rules import RuleMatcher, Verdict

if TYPE_CHECKING:
    from llm_sandbox.egress.interception.interception import Interception

__all__ = ["Exchange", "Flow", "FlowContext", "reset"]

_DIAL_S = 15.0
_IDLE_S = 3600.0
_KEEPALIVE = ((socket.TCP_KEEPIDLE, 60), (socket.TCP_KEEPINTVL, 20), (socket.TCP_KEEPCNT, 6))


class FlowContext(Protocol):
    """The parts of a gate that its connections use."""

    loop: Loop
    event_log: EventLog
    matcher: RuleMatcher
    resolver: Resolver
    interception: "Interception | None"

    def opened(self, flow: "Flow") -> None:
        """Called when a connection begins to be relayed."""

    def closed(self, flow: "Flow") -> None:
        """Called when a connection has ended."""


class Exchange(Protocol):
    """Relay of both directions of a connection together, as its messages depend on each other."""

    done: bool
    """Whether it has ended."""
    patience: float | None
    """Seconds without progress until it is closed; None for the default of connections."""
    totals: list[int]
    """Bytes out and bytes in."""

    def pump(self) -> bool:
        """See `Direction.pump`."""

    def close(self) -> None:
        """See `Direction.close`."""


class _RefusedError(Exception):
    """Refusal of the first bytes of a connection."""


def reset(sock: socket.socket) -> None:
    """Close a connection with a reset, so that its peer gets an error instead of an end."""
    _set_reset_on_close(sock, True)
    sock.close()


def _set_reset_on_close(sock: socket.socket, enabled: bool) -> None:
    with contextlib.suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", enabled, 0))


class Flow:
    """Relay of one accepted connection to a name or to an address.

    Args:
        gate: The gate of the connection.
        client: The connection from inside.
        name: The destination's name; None for an address.
        address: The destination's address; for a name, its synthetic one.
        port: The destination's port.
        given: Bytes that were read from the connection before.
    """

    def __init__(
        self,
        gate: FlowContext,
        client: socket.socket,
        name: str | None,
        address: IpAddress | None,
        port: int,
        given: bytes = b"",
    ) -> None:
        self.name = name
        self.address: IpAddress | None = None if name is not None else address
        self.port = port
        self.active_at = time.monotonic()
        self._gate = gate
        self._client = client
        self._given = given
        self._server: socket.socket | None = None
        self._candidates = [address] if name is None and address is not None else []
        self._directions: tuple[Direction, Direction] | tuple[Exchange] | None = None
        self._closed = False
        client.setblocking(False)
        # If this process ends before the connection does, the peer must not take that for its end.
        _set_reset_on_close(client, True)
        gate.loop.watch(client.fileno(), EVENTS_BOTH, self._client_ready)

    # --- resolving and dialling

    def start(self) -> None:
        """Resolve and dial the destination."""
        if self.name is None:
            self._dial()
            return
        pinned = self._gate.matcher.pinned(self.name)
        if pinned is not None:
            self._on_resolved(self.name, (pinned,))
        else:
            self._gate.resolver.look_up(self.name, partial(self._on_resolved, self.name))

    def _on_resolved(self, name: str, answer: Answer) -> None:
        if self._closed:
            return
        if not answer:
            self.fail("not_resolved", verdict="failed")
            return
        # The rules may have changed meanwhile. The addresses that are checked here are dialled: the
        # name is not resolved again.
        name_verdict = self._gate.matcher.name(name, self.port)
        verdicts = [
            (address, self._gate.matcher.resolved(name, address, self.port)) for address in answer
        ]
        self._candidates = [address for address, verdict in verdicts if verdict.allowed]
        if not name_verdict.allowed:
            self.fail(str(name_verdict.reason))
        elif not self._candidates:
            address, verdict = verdicts[0]
            self.fail(str(verdict.reason), address=address)
        else:
            self._dial()

    def _dial(self) -> None:
        """Begin to connect to the next candidate."""
        while self._candidates:
            self.address = self._candidates.pop(0)
            family = socket.AF_INET if self.address.version == 4 else socket.AF_INET6
            kind = socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC
            server = None
            try:
                server = socket.socket(family, kind)
                # By number: nothing is resolved here.
                code = server.connect_ex((str(self.address), self.port))
            except OSError as error:
                code = error.errno or errno.EIO
            if server is not None and code in (0, errno.EINPROGRESS):
                self._server = server
                _set_reset_on_close(server, True)
                self.active_at = time.monotonic()
                self._gate.loop.watch(
                    server.fileno(), EVENTS_BOTH, partial(self._server_ready, server)
                )
                return
            if server is not None:
                server.close()
        self.fail("not_reached", verdict="failed")

    def _connected(self, server: socket.socket, events: int) -> None:
        code = server.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code or events & FAILED:
            self._drop_server()
            self._dial()
            return
        for sock in (self._client, server):
            if sock.family == socket.AF_UNIX:
                continue  # it is carried here from a program
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for option, value in _KEEPALIVE:
                sock.setsockopt(socket.IPPROTO_TCP, option, value)
        self._begin(server)

    def _begin(self, server: socket.socket) -> None:
        """Begin to relay."""
        client = self._client
        if self._intercept(server):
            return
        looks = self._gate.interception is not None or self._checks_tls
        self._directions = (
            Direction(
                client, server, partial(self._inspect, self.name) if looks else None, self._given
            ),
            Direction(server, client),
        )
        self._gate.opened(self)
        self._relay()

    @property
    def _checks_tls(self) -> bool:
        return self.name is not None and self._gate.matcher.rules.tls != "off"

    def _intercept(self, server: socket.socket) -> bool:
        """Intercept the connection if a secret is bound to its destination."""
        interception = self._gate.interception
        if interception is None:
            return False
        intercepted = interception.connection(
            self._client, server, self.name, self.port, self._given
        )
        if intercepted is None:
            return False
        intercepted.strict = self._gate.matcher.rules.tls == "strict"
        intercepted.note = self._note
        self._directions = (intercepted,)
        self._gate.opened(self)
        self._relay()
        return True

    # --- relaying

    def _client_ready(self, events: int) -> None:
        if self._directions is not None:
            self._relay()
        elif events & FAILED:
            self.close()  # the client has given up

    def _server_ready(self, server: socket.socket, events: int) -> None:
        if self._directions is None:
            self._connected(server, events)
        else:
            self._relay()

    def _relay(self) -> None:
        if self._closed or self._directions is None:
            return
        self.active_at = time.monotonic()
        try:
            more = [direction.pump() for direction in self._directions]
        except _RefusedError:
            return
        except Refusal as refusal:
            self._note(refusal)
            self.close()
            return
        except OSError:
            self.close()
            return
        if all(direction.done for direction in self._directions):
            self.close(reset_peers=False)
        elif any(more):
            self._gate.loop.soon(self._relay)

    def _inspect(self, name: str | None, data: bytes, ended: bool) -> bool:
        if self._checks_tls and not self._inspect_tls(name, data, ended):
            return False
        interception = self._gate.interception
        if interception is None:
            return True
        try:
            return interception.check_plain(data, name, ended=ended)
        except Refusal as refusal:
            self._note(refusal)
            with contextlib.suppress(OSError):
                self._client.send(refusal.answer())
            self.close(reset_peers=False)
            raise _RefusedError from None

    def _inspect_tls(self, name: str | None, data: bytes, ended: bool) -> bool:
        hello = client_hello.examine(data)
        if hello == "more" and ended:
            hello = "malformed" if data else "other"
        if hello == "more":
            return False
        strict = self._gate.matcher.rules.tls == "strict"
        reason = client_hello.objection(hello, name, strict=strict)
        if reason is not None:
            requested = hello.name if isinstance(hello, client_hello.Hello) else None
            self.fail(reason, protocol="tls", detail=requested or "")
            raise _RefusedError
        return True

    # --- end

    @property
    def totals(self) -> tuple[int, int]:
        """Bytes out and bytes in."""
        match self._directions:
            case (one, other):
                return one.total, other.total
            case (exchange,):
                return exchange.totals[0], exchange.totals[1]
            case _:
                return 0, 0

    def recheck(self) -> bool:
        """Close the connection if new rules do not allow it; return whether they allow it."""
        matcher = self._gate.matcher
        verdict = Verdict() if self.name is None else matcher.name(self.name, self.port)
        if verdict.allowed and self.address is not None:
            if self.name is None:
                verdict = matcher.literal(self.address, self.port)
            else:
                verdict = matcher.resolved(self.name, self.address, self.port)
        if not verdict.allowed:
            self.fail("rules_changed")
        return verdict.allowed

    def sweep(self, now: float) -> None:
        """Close a connection that is idle, or an attempt to connect, for too long."""
        if self._directions is not None:
            patience = getattr(self._directions[0], "patience", None) or _IDLE_S
            if now - self.active_at > patience:
                self.close()
        elif self._server is not None and now - self.active_at > _DIAL_S:
            self._drop_server()
            self._dial()

    def _note(self, refusal: Refusal) -> None:
        self._record(refusal.reason, refusal.protocol, refusal.verdict, refusal.detail)

    def fail(
        self,
        reason: str,
        *,
        protocol: str = "tcp",
        verdict: str = "denied",
        address: IpAddress | None = None,
        detail: str = "",
    ) -> None:
        """Close the connection with an error, and record the reason."""
        self._end_with(self._record(reason, protocol, verdict, detail, address))

    def _end_with(self, record: dict[str, Any]) -> None:
        """Close a connection after its failure was recorded."""
        self.close()

    def _record(
        self,
        reason: str,
        protocol: str,
        verdict: str,
        detail: str,
        address: IpAddress | None = None,
    ) -> dict[str, Any]:
        return self._gate.event_log.add(
            protocol,
            reason,
            name=self.name,
            address=address or self.address,
            port=self.port,
            detail=detail,
            verdict=verdict,
        )

    def close(self, *, reset_peers: bool = True) -> None:
        """Close both sockets: with a reset, or without if `reset_peers` is False."""
        if self._closed:
            return
        self._closed = True
        for direction in self._directions or ():
            direction.close()
        for sock in filter(None, (self._client, self._server)):
            self._gate.loop.forget(sock.fileno())
            if not reset_peers:
                _set_reset_on_close(sock, False)
            sock.close()
        self._gate.closed(self)

    def _drop_server(self) -> None:
        if self._server is not None:
            self._gate.loop.forget(self._server.fileno())
            self._server.close()
            self._server = None
