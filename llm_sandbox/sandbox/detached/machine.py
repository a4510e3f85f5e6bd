"""Client's side of a machine that a daemon owns."""

import contextlib

# ruff: noqa: D102
# Because: what implements the contract is documented there.
import os
import socket
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from llm_sandbox.backends.base import (
    KernelSpec,
    LimitEvents,
    Machine,
    ProcessSpec,
    RawKernel,
    RawProcess,
    RunningProgram,
)
from llm_sandbox.backends.snapshot import Snapshot
from llm_sandbox.exceptions import BackendError, ContainerGoneError
from llm_sandbox.limits import Limits
from llm_sandbox.network import Network, NetworkEvent
from llm_sandbox.sandbox.detached.client import DaemonClient
from llm_sandbox.sandbox.detached.codec import decode, encode
from llm_sandbox.sandbox.detached.request import Claim, SandboxInfo
from llm_sandbox.sandbox.network import SandboxNetwork
from llm_sandbox.sandbox.tls_tunnel import TlsPort
from llm_sandbox.sandbox.tunnels import Tunnel
from llm_sandbox.secrets.plan import Binding

__all__ = ["DetachedMachine", "DetachedNetwork", "answer"]


class DetachedNetwork:
    """`SandboxNetwork` of a detached sandbox, at the client's side.

    Args:
        machine: The client's machine.
    """

    def __init__(self, machine: "DetachedMachine") -> None:
        self._machine = machine
        self._setting: Network = machine.spec.network
        self._events: tuple[NetworkEvent, ...] = ()

    @property
    def setting(self) -> Network:
        """Network setting; for an ended sandbox the last known one."""
        with contextlib.suppress(ContainerGoneError):
            self._setting, self._machine.isolation = self._machine.ask_network("setting")
        return self._setting

    def set(self, network: Network) -> int:
        """See `SandboxNetwork`."""
        cut: int = self._machine.ask_network("set", network)
        return cut

    def events(self, after: int = 0) -> tuple[NetworkEvent, ...]:
        """Return the events as `SandboxNetwork` does; for an ended sandbox those
        received before.
        """
        with contextlib.suppress(ContainerGoneError):
            self._events = self._machine.ask_network("events")
        return tuple(event for event in self._events if event.number > after)

    @property
    def tunnels(self) -> Mapping[int, Tunnel]:
        """See `SandboxNetwork`."""
        found: Mapping[int, Tunnel] = self._machine.ask_network("tunnels")
        return found

    def open(
        self,
        network: Network,
        ports: Iterable[int | TlsPort] = (),
        bindings: Sequence[Binding] = (),
    ) -> None:
        """Do nothing: the daemon has set up the network."""


def answer(network: SandboxNetwork, what: str, value: Any) -> object:
    """Answer a client's request about the network, in the daemon.

    Args:
        network: Network of the sandbox.
        what: ``setting``, ``set``, ``events`` or ``tunnels``.
        value: New value for ``set``.
    """
    if what == "set":
        return network.set(value)
    if what == "events":
        return network.events()
    if what == "tunnels":
        return dict(network.tunnels)
    return network.setting, network.isolation


_SIGNAL_S = 10.0
_KILL_S = 30.0
_END_S = 60.0
_MARGIN_S = 5.0
_LONG_S = 3600.0


class DetachedMachine(Machine):
    """`Machine` of a detached sandbox, at the client's side.

    Args:
        client: The connection to the daemon.
        info: Description of the sandbox by the daemon.
    """

    arranges_streams = True

    def __init__(self, client: DaemonClient, info: SandboxInfo) -> None:
        request = info.request
        self.id = request.id
        self.spec = info.spec
        self.isolation = info.isolation
        self.name = request.name
        self.namespace = request.namespace
        self.info = info
        self.lets_go = request.on_exit == "keep"
        client.backend = info.isolation.backend
        client.tags = dict(info.tags)
        self._client = client
        self.network = DetachedNetwork(self)
        # An unreferenced machine has no connection and no thread.
        weakref.finalize(self, client.close).atexit = False

    @property
    def tags(self) -> Mapping[str, str]:  # type: ignore[override]
        return self._client.tags

    # --- programs

    def start(self, spec: ProcessSpec) -> RawProcess:
        reply, fds, ending = self._client.follow("start", spec=encode(spec))
        return RawProcess(reply["value"], fds[2] if spec.stdin else None, fds[0], fds[1], ending)

    def programs(self) -> list[RunningProgram]:
        found: list[RunningProgram] = self._client.call("programs")
        return found

    def reattach(self, process_id: str) -> RawProcess:
        reply, fds, ending = self._client.follow("reattach", process=process_id)
        stdin = fds[2] if len(fds) > 2 else None
        return RawProcess(reply["value"], stdin, fds[0], fds[1], ending)

    def start_kernel(self, spec: KernelSpec) -> RawKernel:
        reply, fds, ending = self._client.follow("kernel", spec=encode(spec))
        kernel, cold = decode(reply["value"])
        return RawKernel(kernel, socket.socket(fileno=fds[0]), fds[1], fds[2], ending, cold=cold)

    def claim(self) -> tuple[Claim, RawKernel | None]:
        """Claim the session of the sandbox until `leave`; the kernel is None while it has none.

        Raises:
            SessionBusyError: Another client has it.
        """
        reply, fds, ending = self._client.follow("claim")
        claim: Claim = decode(reply["value"])
        if claim.kernel is None:
            return claim, None
        stream = socket.socket(fileno=fds[0])
        return claim, RawKernel(claim.kernel, stream, fds[1], fds[2], ending, cold=claim.cold)

    def note(self, state: str) -> None:
        """Store notes with the daemon for the next client of the session."""
        self._client.request("note", state=state)

    def leave(self, *, settled: bool) -> None:
        """Release the session.

        Args:
            settled: Whether no message to or from the kernel is incomplete.
        """
        self._client.request("leave", settled=settled)

    def note_turn(self, begins: bool) -> None:
        if self.info.request.session is not None:
            self._client.notify("turn", begins=begins)

    def signal(self, process_id: str, number: int) -> bool:
        return bool(
            self._client.call("signal", answer_s=_SIGNAL_S, process=process_id, number=number)
        )

    def resize(self, process_id: str, rows: int, cols: int) -> bool:
        return bool(
            self._client.call(
                "resize", answer_s=_SIGNAL_S, process=process_id, rows=rows, cols=cols
            )
        )

    def kill(self, process_id: str, *, children_only: bool = False) -> bool:
        return bool(
            self._client.call(
                "kill", answer_s=_KILL_S, process=process_id, children_only=children_only
            )
        )

    def sweep(self) -> None:
        self._client.request("sweep")

    def limit_events(self) -> LimitEvents:
        events: LimitEvents = self._client.call("limit_events")
        return events

    # --- files, ports and packages

    def open_files(self) -> socket.socket:
        return socket.socket(fileno=self._client.request("files")[1][0])

    def prepare_files(self) -> None:
        self._client.request("prepare_files")

    def active(self, begins: bool) -> None:
        if self.info.request.idle_timeout is not None:
            self._client.notify("busy", begins=begins)

    def connect(self, port: int) -> socket.socket:
        reply, fds = self._client.request("connect", port=port)
        if not fds:
            raise OSError(reply["value"], os.strerror(reply["value"]))
        return socket.socket(fileno=fds[0])

    def ask_network(self, what: str, value: object = None) -> Any:
        """Send the daemon a request about the network; see `answer`."""
        return self._client.call("network", what=what, value=encode(value))

    def base_env(self) -> dict[str, str]:
        return dict(self.info.base_env)

    def python(self) -> str:
        return self.info.python

    def language_folder(self, language: str) -> str:
        return str(self._client.call("language_folder", language=language))

    @property
    def images(self) -> tuple[str, str] | None:
        return self.info.images

    @property
    def saves_file_systems(self) -> bool:
        return self.info.saves_file_systems

    @property
    def has_packages(self) -> bool:
        return self.info.has_packages

    @property
    def library_path(self) -> str | None:
        return self.info.library_path

    def install_packages(self, specs: Sequence[str]) -> None:
        self._client.request("install", specs=list(specs), answer_s=_LONG_S)

    def snapshot(
        self,
        workdir: bytes,
        name: str | None,
        site: Path | None = None,
        *,
        expires_at: float | None = None,
    ) -> Snapshot:
        fd = os.memfd_create("llm-sandbox-workdir")
        try:
            with os.fdopen(os.dup(fd), "wb") as file:
                file.write(workdir)
            reply, _ = self._client.request(
                "snapshot",
                (fd,),
                name=name,
                site=encode(site),
                expires_at=expires_at,
                answer_s=_LONG_S,
            )
        finally:
            os.close(fd)
        saved: Snapshot = decode(reply["value"])
        return saved

    # --- its life

    @property
    def end_reason(self) -> str | None:
        return self._client.end_reason

    @property
    def exit_code(self) -> int | None:
        return self._client.exit_code

    def on_end(self, call: Callable[[], None]) -> None:
        self._client.on_end(call)

    def update_limits(self, limits: Limits) -> None:
        self._client.request("limits", limits=encode(limits))
        self.spec = replace(self.spec, limits=limits)

    def set_deadline(self, seconds: float | None) -> None:
        self._client.request("deadline", seconds=seconds)

    def set_tags(self, tags: Mapping[str, str]) -> None:
        self._client.request("tags", tags=encode(dict(tags)))

    def end(self, reason: str) -> None:
        """End the sandbox, and return when it has ended.

        Raises:
            BackendError: The sandbox could not be ended, or its daemon does not answer.
        """
        try:
            self._client.request("end", reason=reason, within=_END_S, answer_s=_END_S + _MARGIN_S)
        except ContainerGoneError:
            if self.end_reason is None:
                raise BackendError(
                    "the sandbox was not ended: it belongs to another process",
                    backend=self.isolation.backend,
                ) from None

    def destroy(self) -> None:
        self.end("closed")
        self._client.close()

    def terminate(self) -> None:
        self.end("terminated")

    def detach(self) -> None:
        if not self.lets_go and self.end_reason is None:
            self._client.request("disown")
        self.release()

    def release(self) -> None:
        """Close the connection; the machine lives on."""
        self._client.close()
