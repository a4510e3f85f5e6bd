"""One connection out of a sandbox: judged, dialled, and carried to its end."""

import contextlib
import errno
import socket
import struct
import time
from functools import partial
from typing import TYPE_CHECKING, Protocol

from llm_sandbox.egress import client_hello
from llm_sandbox.egress.addresses import IpAddress
from llm_sandbox.egress.direction import Direction
from llm_sandbox.egress.event_log import EventLog
from llm_sandbox.egress.interception.refusal import Refusal
from llm_sandbox.egress.loop import EVENTS_BOTH, FAILED, Loop
from llm_sandbox.egress.resolver import Answer, Resolver
from llm_sandbox.egress.rules import RuleMatcher, Verdict

if TYPE_CHECKING:
    from llm_sandbox.egress.interception.interception import InterceptedConnection, Interception

__all__ = ["Flow", "FlowContext", "reset"]

_DIAL_S = 15.0
_IDLE_S = 3600.0
_KEEPALIVE = ((socket.TCP_KEEPIDLE, 60), (socket.TCP_KEEPINTVL, 20), (socket.TCP_KEEPCNT, 6))


class FlowContext(Protocol):
    """What a connection needs of the gate that it is in."""

    loop: Loop
    event_log: EventLog
    matcher: RuleMatcher
    resolver: Resolver
    interception: "Interception | None"

    def opened(self, flow: "Flow") -> None:
        """It is carried now."""

    def closed(self, flow: "Flow") -> None:
        """It has ended."""


class _RefusedError(Exception):
    """The first bytes are not what the rules allow."""


def reset(sock: socket.socket) -> None:
    """Close a connection so that its other end gets an error, not an end."""
    _end_with_error(sock, True)
    sock.close()


def _end_with_error(sock: socket.socket, wanted: bool) -> None:
    with contextlib.suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", wanted, 0))


class Flow:
    """Carries one accepted connection to a name or to an address.

    Args:
        gate: What it is in.
        client: The connection from inside.
        name: The name that its address stands for; None where it is an address.
        address: The address that it goes to, of a name the one that stands for it.
        port: The port that it goes to.
    """

    def __init__(
        self,
        gate: FlowContext,
        client: socket.socket,
        name: str | None,
        address: IpAddress,
        port: int,
    ) -> None:
        self.name = name
        self.address: IpAddress | None = None if name is not None else address
        self.port = port
        self.moved = time.monotonic()
        self._gate = gate
        self._client = client
        self._server: socket.socket | None = None
        self._candidates: list[IpAddress] = [address] if name is None else []
        self._directions: tuple[Direction, Direction] | tuple[InterceptedConnection] | None = None
        self._over = False
        client.setblocking(False)
        # If this process ends before the connection does, nobody shall take that for its end.
        _end_with_error(client, True)
        gate.loop.watch(client.fileno(), EVENTS_BOTH, self._client_ready)

    # --- finding the other side

    def start(self) -> None:
        """Look for the other side."""
        if self.name is None:
            self._dial()
            return
        pinned = self._gate.matcher.pinned(self.name)
        if pinned is not None:
            self._resolved(self.name, (pinned,))
        else:
            self._gate.resolver.look_up(self.name, partial(self._resolved, self.name))

    def _resolved(self, name: str, answer: Answer) -> None:
        if self._over:
            return
        if not answer:
            self.fail("not_resolved", verdict="failed")
            return
        # The rules may have changed meanwhile. What is judged here is what is dialled: the name is
        # not looked up again.
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
        """Begin to connect to the next address."""
        while self._candidates:
            self.address = self._candidates.pop(0)
            family = socket.AF_INET if self.address.version == 4 else socket.AF_INET6
            kind = socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC
            server = None
            try:
                server = socket.socket(family, kind)
                # By number: nothing is looked up here.
                code = server.connect_ex((str(self.address), self.port))
            except OSError as error:
                code = error.errno or errno.EIO
            if server is not None and code in (0, errno.EINPROGRESS):
                self._server = server
                _end_with_error(server, True)
                self.moved = time.monotonic()
                self._gate.loop.watch(
                    server.fileno(), EVENTS_BOTH, partial(self._server_ready, server)
                )
                return
            if server is not None:
                server.close()
        self.fail("not_reached", verdict="failed")

    def _dialled(self, server: socket.socket, events: int) -> None:
        code = server.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code or events & FAILED:
            self._hang_up_server()
            self._dial()
            return
        client = self._client
        for sock in (client, server):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for option, value in _KEEPALIVE:
                sock.setsockopt(socket.IPPROTO_TCP, option, value)
        if self._intercept(server):
            return
        looks = self._gate.interception is not None or self._checks_tls
        self._directions = (
            Direction(client, server, partial(self._inspect, self.name) if looks else None),
            Direction(server, client),
        )
        self._gate.opened(self)
        self._carry()

    @property
    def _checks_tls(self) -> bool:
        return self.name is not None and self._gate.matcher.rules.tls != "off"

    def _intercept(self, server: socket.socket) -> bool:
        """Have placeholders replaced on the way, if any is bound to where this goes."""
        interception = self._gate.interception
        if interception is None:
            return False
        exchange = interception.connection(self._client, server, self.name, self.port)
        if exchange is None:
            return False
        exchange.strict = self._gate.matcher.rules.tls == "strict"
        exchange.note = self._note
        self._directions = (exchange,)
        self._gate.opened(self)
        self._carry()
        return True

    # --- carrying

    def _client_ready(self, events: int) -> None:
        if self._directions is not None:
            self._carry()
        elif events & FAILED:
            self.close()  # who asked has given up

    def _server_ready(self, server: socket.socket, events: int) -> None:
        if self._directions is None:
            self._dialled(server, events)
        else:
            self._carry()

    def _carry(self) -> None:
        if self._over or self._directions is None:
            return
        self.moved = time.monotonic()
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
            self.close(at_once=False)
        elif any(more):
            self._gate.loop.soon(self._carry)

    def _inspect(self, name: str | None, data: bytes, ended: bool) -> bool:
        if self._checks_tls and not self._inspect_tls(name, data, ended):
            return False
        interception = self._gate.interception
        if interception is None:
            return True
        try:
            return interception.clear(data, name, ended=ended)
        except Refusal as refusal:
            self._note(refusal)
            with contextlib.suppress(OSError):
                self._client.send(refusal.answer())
            self.close(at_once=False)
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
            asked = hello.name if isinstance(hello, client_hello.Hello) else None
            self.fail(reason, protocol="tls", detail=asked or "")
            raise _RefusedError
        return True

    # --- its end

    @property
    def totals(self) -> tuple[int, int]:
        """Bytes that went out and came back."""
        match self._directions:
            case (one, other):
                return one.total, other.total
            case (exchange,):
                return exchange.totals[0], exchange.totals[1]
            case _:
                return 0, 0

    def recheck(self) -> bool:
        """Whether the rules allow it still; where they do not, it is cut."""
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
        """Give up what takes too long."""
        if self._directions is not None:
            patience = getattr(self._directions[0], "patience", None) or _IDLE_S
            if now - self.moved > patience:
                self.close()
        elif self._server is not None and now - self.moved > _DIAL_S:
            self._hang_up_server()
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
        """End it with an error and record why."""
        self._record(reason, protocol, verdict, detail, address)
        self.close()

    def _record(
        self,
        reason: str,
        protocol: str,
        verdict: str,
        detail: str,
        address: IpAddress | None = None,
    ) -> None:
        self._gate.event_log.add(
            protocol,
            reason,
            name=self.name,
            address=address or self.address,
            port=self.port,
            detail=detail,
            verdict=verdict,
        )

    def close(self, *, at_once: bool = True) -> None:
        """End it: with an error to both sides, or `at_once` False where both have had their end."""
        if self._over:
            return
        self._over = True
        for direction in self._directions or ():
            direction.close()
        for sock in filter(None, (self._client, self._server)):
            self._gate.loop.forget(sock.fileno())
            if not at_once:
                _end_with_error(sock, False)
            sock.close()
        self._gate.closed(self)

    def _hang_up_server(self) -> None:
        if self._server is not None:
            self._gate.loop.forget(self._server.fileno())
            self._server.close()
            self._server = None
