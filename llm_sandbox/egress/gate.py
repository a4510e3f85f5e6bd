"""Client of a sandbox's gate process: its start, its rules, its events and its counters."""

import contextlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from llm_sandbox.egress.netns_sockets import NetnsSockets, ports_of
from llm_sandbox.exceptions import ContainerGoneError, ProtocolError, UnsupportedError
from llm_sandbox.guest.control import ControlChannel
from llm_sandbox.network import NetworkEvent, NetworkRules
from llm_sandbox.secrets.plan import Binding

__all__ = ["Gate", "GateStats"]

_PACKAGE = Path(__file__).parents[1]
_START_S = 30.0
_ANSWER_S = 30.0
_END_S = 5.0
_MOST_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class GateStats:
    """Counters of a gate since its start."""

    open: int
    """Open connections."""
    carried: int
    """Connections that were allowed, ended ones included."""
    denied: int
    """Attempts that the rules refused."""
    names: int
    """Allowed DNS queries."""
    bytes_out: int
    """Bytes from the sandbox to the network."""
    bytes_in: int
    """Bytes from the network to the sandbox."""
    last_event: int
    """Number of the last event; 0 without events."""


class Gate:
    """Process that holds a sandbox's sockets and relays the connections that the rules allow.

    The process ends with this object's `close`, with the calling process, and by itself when it
    fails; then the sockets are closed, and connections in the sandbox are refused at once. Methods
    may be called from any thread.
    """

    def __init__(self, process: subprocess.Popen[bytes], channel: ControlChannel) -> None:
        self._process = process
        self._channel = channel
        self._lock = threading.Lock()
        self._closed = False
        self._ports: frozenset[int] | None = None
        self.authority: str | None = None
        """Certificate of the authority for bound hosts, as PEM; None without bindings."""
        self.trusted = ""
        """Certificates that this machine trusts, as PEM; empty without bindings."""
        self._events: tuple[NetworkEvent, ...] = ()
        self._stats = GateStats(0, 0, 0, 0, 0, 0, 0)

    @classmethod
    def start(
        cls,
        sockets: NetnsSockets,
        rules: NetworkRules,
        *,
        resolver: str | None = None,
        bindings: Sequence[Binding] = (),
    ) -> Self:
        """Start a gate; the sockets are passed to it and closed here.

        Args:
            sockets: Result of `open_netns_sockets`.
            rules: The first rules.
            resolver: Address of the DNS server for names, as ``address:port``; None for the host's
                resolver, its hosts file included.
            bindings: Secrets that replace placeholders; they are sent on the socket alone.

        Raises:
            MissingDependencyError: There are bindings, and `cryptography` is not installed.
            ContainerGoneError: The process did not start.
        """
        interception = _interception(bindings)
        code = (
            f"import sys; sys.path.insert(0, {str(_PACKAGE.parent)!r}); "
            "from llm_sandbox.egress import server; server.main(int(sys.argv[1]))"
        )
        near, far = socket.socketpair()
        with far:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", code, str(far.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(far.fileno(),),
                start_new_session=True,
                cwd="/",
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
            )
        near.settimeout(_START_S)
        gate = cls(process, ControlChannel(near))
        try:
            kinds = list(sockets.fds)
            for start in range(0, len(kinds), _MOST_AT_ONCE):
                part = kinds[start : start + _MOST_AT_ONCE]
                message = {"do": "take", "kinds": [kind for kind, _ in part]}
                gate._ask(message, [fd for _, fd in part])
            started = gate._ask(
                {
                    "do": "start",
                    "rules": rules.to_dict(),
                    "resolver": resolver,
                    "redirected": sockets.redirected,
                    **({"interception": interception} if interception is not None else {}),
                }
            )
            if interception is not None:
                gate.authority = started["authority"]
                gate.trusted = interception["trusted"]
        except BaseException:
            gate.close()
            raise
        finally:
            sockets.close()
        near.settimeout(_ANSWER_S)
        gate._ports = sockets.ports
        return gate

    @property
    def pid(self) -> int:
        """Pid of the gate's process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return not self._closed and self._process.poll() is None

    def update(self, rules: NetworkRules) -> int:
        """Replace the rules at once, and close connections that they do not allow.

        Returns:
            Number of closed connections.

        Raises:
            ContainerGoneError: The gate has ended; no connection is possible.
            UnsupportedError: The sockets were opened for other ports.
        """
        ports = ports_of(rules)
        if self._ports is not None and (ports is None or not self._ports.issuperset(ports)):
            raise UnsupportedError(
                "rules with other ports than before",
                reason="this kernel has no nf_tables, so that connections are taken port by port, "
                f"here at {', '.join(map(str, sorted(self._ports)))}",
                hint="make the sandbox with rules that name every port that will be needed",
            )
        return int(self._ask({"do": "update", "rules": rules.to_dict()})["cut"])

    def events(self, after: int = 0) -> tuple[NetworkEvent, ...]:
        """Return refused and failed attempts, the oldest first; the last 1000 kinds of them.

        Args:
            after: Return only events with a greater number, such as an earlier
                `GateStats.last_event`.

        Returns:
            The events; of a gate that has ended, those of the last call.
        """
        with contextlib.suppress(ContainerGoneError):
            answer = self._ask({"do": "events"})
            self._events = tuple(map(NetworkEvent.from_dict, answer["events"]))
        return tuple(event for event in self._events if event.number > after)

    def stats(self) -> GateStats:
        """Return the counters; of a gate that has ended, those of the last call."""
        with contextlib.suppress(ContainerGoneError):
            self._stats = GateStats(**self._ask({"do": "stats"})["stats"])
        return self._stats

    def close(self) -> None:
        """End the process and every connection, and wait for its exit. Idempotent."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._channel.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, message: dict[str, Any], fds: list[int] | None = None) -> dict[str, Any]:
        with self._lock:
            if self._closed:
                raise ContainerGoneError(
                    "the gate is closed: nothing of the network can be reached"
                )
            try:
                self._channel.send(message, fds or ())
                record = self._channel.receive()
            except (OSError, ValueError) as error:
                self._kill()
                raise _gone(str(error)) from None
        if record is None:
            raise _gone(f"its process {self.pid} is gone")
        answer, passed = record
        for fd in passed:
            os.close(fd)
        if "error" in answer:
            raise ProtocolError(f"the gate refused {message['do']!r}: {answer['error']}")
        return answer

    def _kill(self) -> None:
        """Kill the process after a failed request: a late answer would be taken for another."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()


def _interception(bindings: Sequence[Binding]) -> dict[str, Any] | None:
    """Return the process's settings for interception; None without bindings."""
    if not bindings:
        return None
    from llm_sandbox.egress.interception.prerequisites import library_paths, trusted_certificates

    return {
        "bindings": [asdict(binding) for binding in bindings],
        "library_paths": library_paths(),
        "trusted": trusted_certificates(),
    }


def _gone(why: str) -> ContainerGoneError:
    return ContainerGoneError(
        f"the gate of this sandbox has ended ({why}): nothing of the network can be reached",
        hint="make a new sandbox",
    )
