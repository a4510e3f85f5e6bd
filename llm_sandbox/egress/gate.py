"""One sandbox's gate, as the host's process sees it: rules go in, denied attempts come out."""

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
    """What went through a gate since it started."""

    open: int
    """Connections open now."""
    carried: int
    """Connections that were let through, ended ones among them."""
    denied: int
    """Attempts that the rules refused; the number of the last event where none was left out."""
    names: int
    """Names that were looked up and allowed."""
    bytes_out: int
    """Bytes that went from the sandbox to the world."""
    bytes_in: int
    """Bytes that came back."""
    last_event: int
    """Number of the last event; 0 without any."""


class Gate:
    """A process that holds a sandbox's planted sockets and carries what the rules allow.

    It ends with this object's `close`, with this process, and by itself when it fails; then the
    sockets are closed, and connections in the sandbox are refused at once. Methods may be called
    from any thread.
    """

    def __init__(self, process: subprocess.Popen[bytes], channel: ControlChannel) -> None:
        self._process = process
        self._channel = channel
        self._lock = threading.Lock()
        self._closed = False
        self._ports: frozenset[int] | None = None
        self.authority: str | None = None
        """The certificate of what signs for bound hosts; None without bindings."""
        self.trusted = ""
        """The certificates that this machine trusts, where there are bindings."""
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
        """Start a gate; the sockets go to it and are closed here.

        Args:
            sockets: What `open_netns_sockets` returned.
            rules: What may be reached.
            resolver: Address of the DNS server that names are looked up at, as ``address:port``;
                None for the host's own way, its hosts file included.
            bindings: What is put in place of placeholders; they travel on the socket alone.

        Raises:
            MissingDependencyError: There are bindings, and what signs certificates is missing.
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
        """Number of the gate's process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it carries anything still."""
        return not self._closed and self._process.poll() is None

    def update(self, rules: NetworkRules) -> int:
        """Change the rules at once; connections that they do not allow are cut.

        Returns:
            How many connections were cut.

        Raises:
            ContainerGoneError: The gate has ended, and with it everything is closed.
            UnsupportedError: The sockets were planted for other ports.
        """
        wanted = ports_of(rules)
        if self._ports is not None and (wanted is None or not self._ports.issuperset(wanted)):
            raise UnsupportedError(
                "rules with other ports than before",
                reason="this kernel has no nf_tables, so that connections are taken port by port, "
                f"here at {', '.join(map(str, sorted(self._ports)))}",
                hint="make the sandbox with rules that name every port that will be needed",
            )
        return int(self._ask({"do": "update", "rules": rules.to_dict()})["cut"])

    def events(self, after: int = 0) -> tuple[NetworkEvent, ...]:
        """What was tried in vain, oldest first; the last 1000 kinds of attempts.

        Args:
            after: Only those with a greater number, such as `GateStats.last_event` of before.

        Returns:
            The events; of a gate that has ended, those that were asked for before.
        """
        with contextlib.suppress(ContainerGoneError):
            answer = self._ask({"do": "events"})
            self._events = tuple(map(NetworkEvent.from_dict, answer["events"]))
        return tuple(event for event in self._events if event.number > after)

    def stats(self) -> GateStats:
        """Counters; of a gate that has ended, as they were when last asked for."""
        with contextlib.suppress(ContainerGoneError):
            self._stats = GateStats(**self._ask({"do": "stats"})["stats"])
        return self._stats

    def close(self) -> None:
        """End the process and every connection; returns when it is gone. May be called twice."""
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
        """Close what can no longer be talked to: its answers would be taken for others'."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()


def _interception(bindings: Sequence[Binding]) -> dict[str, Any] | None:
    """What the process is told of placeholders; None where there are none."""
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
