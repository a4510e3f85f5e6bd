"""Launch of a pod with the supervisor as process 1, and the stream that leads to it."""

import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable, Sequence
from typing import IO, Any

from llm_sandbox.backends.connection import SupervisorEnd
from llm_sandbox.backends.kubernetes.cluster import ApiError
from llm_sandbox.backends.kubernetes.exec_stream import ExecStream
from llm_sandbox.backends.kubernetes.manifest import PodPlan
from llm_sandbox.backends.kubernetes.pod_status import (
    describe_events,
    find_end,
    find_start_error,
    look_at,
    progress,
)
from llm_sandbox.backends.kubernetes.pods import Pods
from llm_sandbox.backends.relayed_supervisor import ControlPair, RelayedSupervisor
from llm_sandbox.exceptions import BackendError, BackendUnavailableError, SandboxError
from llm_sandbox.guest.mux import StdioTransport
from llm_sandbox.guest.resumable import (
    KEY_SIZE,
    FramedConnection,
    LinkError,
    ResumableStream,
)

__all__ = ["PodLaunch"]

_FIRST_PAUSE_S = 0.1
_MOST_PAUSE_S = 5.0
_ANSWER_S = 0.3
"""Seconds between two looks at a pod that starts."""
_RESERVE_S = 10.0
"""Seconds before process 1 gives up, at which this end does."""
_LAST_BYTES_S = 1.0
_END_KNOWN_S = 5.0
"""Seconds that the kubelet may take to say how a container ended."""


class PodLaunch:
    """Launch of a new pod; see `backends.connection.Launch`.

    Args:
        pods: The namespace's pods.
        plan: The pod.
        relay: Command line of the relay to process 1.
        start_s: Seconds within which it has to run.
        orphan_after: Seconds without a connection after which it ends by itself.
    """

    def __init__(
        self,
        pods: Pods,
        plan: PodPlan,
        relay: Sequence[str],
        *,
        start_s: float,
        orphan_after: float,
    ) -> None:
        self._pods = pods
        self._plan = plan
        self._relay = relay
        self._start_s = start_s
        self._patience_s = orphan_after - _RESERVE_S
        self.control_pair = ControlPair()
        self.name = ""
        """The pod's name; empty until it is created."""
        self._uid = ""

    def __call__(self, far: socket.socket, log: IO[bytes]) -> RelayedSupervisor:
        pod = self._pods.create(self._plan.manifest, start_s=self._start_s)
        self.name, self._uid = pod["metadata"]["name"], pod["metadata"]["uid"]
        near, local = socket.socketpair()
        link = _Link(local, lambda: self._connect(log), self._find_end, self._patience_s)
        try:
            self._wait_until_started(link)
        except BaseException:
            near.close()
            link.abandon()
            with contextlib.suppress(SandboxError):
                self.delete()
            raise

        def at_end() -> SupervisorEnd | None:
            end = link.close()
            with contextlib.suppress(SandboxError):
                self.delete()
            return end

        link.start()
        descriptor = near.fileno()
        return RelayedSupervisor(
            near,
            StdioTransport(descriptor, descriptor),
            self.control_pair.supervisor_end(far.dup()),
            at_end,
        )

    def delete(self) -> None:
        """Delete the pod, if it is there.

        Raises:
            ApiError: The server refused.
            BackendUnavailableError: The server does not answer.
        """
        if self.name:
            self._pods.delete(self.name, self._uid)

    def _connect(self, log: IO[bytes] | None) -> ExecStream:
        pods = self._pods
        return ExecStream(
            pods.cluster, pods.namespace, self.name, self._plan.container, self._relay, log
        )

    def _find_end(self) -> SupervisorEnd | None:
        """Return how the pod ended; None while it runs, or while nobody knows."""
        with contextlib.suppress(SandboxError):
            pod = self._pods.find(self.name)
            if pod is not None and pod["metadata"]["uid"] != self._uid:
                pod = None
            return find_end(pod, self._plan.container)
        return None

    def _wait_until_started(self, link: "_Link") -> None:
        """Wait until the stream is connected.

        Raises:
            SandboxError: It will never be; the message has the cluster's words.
        """
        deadline = time.monotonic() + self._start_s
        looked = 0.0
        pod: dict[str, Any] = {}
        words = ""
        while True:
            now = time.monotonic()
            if now - looked >= _ANSWER_S:
                looked = now
                found = self._pods.find(self.name)
                if found is None:
                    raise self._never_started("somebody has deleted it")
                pod = found
                failure = find_start_error(pod)
                if failure is not None:
                    failure.message += self._last_words(pod)
                    raise failure
            # The status of a pod that runs is up to a second late: so it is tried, not asked.
            if pod.get("spec", {}).get("nodeName") and not _awaits_init(pod):
                try:
                    link.connect()
                    return
                except ApiError as error:
                    if error.status in (401, 403):
                        raise
                    words = error.words
                except (LinkError, OSError) as error:
                    words = str(error)
            if time.monotonic() > deadline:
                events = describe_events(self._pods.events(self.name))
                raise self._never_started(
                    f"it did not start in {self._start_s:g} s: {progress(pod)}"
                    f"{f'; {events}' if events else ''}{f'; last answer: {words}' if words else ''}"
                )
            time.sleep(_FIRST_PAUSE_S)

    def _last_words(self, pod: dict[str, Any]) -> str:
        """Return what the containers of a pod wrote last, as the end of a message."""
        names = [one["name"] for one in pod["spec"].get("initContainers") or ()]
        logs = [self._pods.log(self.name, name) for name in [*names, self._plan.container]]
        return "".join(f"\n{log.rstrip()}" for log in logs if log)

    def _never_started(self, words: str) -> BackendError:
        return BackendUnavailableError(
            f"the pod {self.name} cannot start: {words}",
            backend="kubernetes",
            hint=f"{look_at(self.name, self._pods.namespace)}; more time: start_timeout=",
        )


def _awaits_init(pod: dict[str, Any]) -> bool:
    statuses = pod["status"].get("initContainerStatuses") or ()
    if not pod["spec"].get("initContainers"):
        return False
    return not statuses or any(
        (one.get("state") or {}).get("terminated") is None for one in statuses
    )


class _Link:
    """Stream to process 1 of a pod, connected again after each cut.

    Args:
        local: Socket whose bytes are carried.
        connect: Starts a relay.
        find_end: Returns how the pod ended; None while it runs, or while nobody knows.
        patience_s: Seconds after a cut for which it is connected again.
    """

    def __init__(
        self,
        local: socket.socket,
        connect: Callable[[], ExecStream],
        find_end: Callable[[], SupervisorEnd | None],
        patience_s: float,
    ) -> None:
        self._closing = threading.Event()
        self._stream = ResumableStream(local, self._closing.is_set)
        self._connect = connect
        self._find_end = find_end
        self._patience_s = patience_s
        self._key = os.urandom(KEY_SIZE)
        self._is_first = True
        self._connected: tuple[FramedConnection, int] | None = None
        self._end: SupervisorEnd | None = None
        self._thread = threading.Thread(target=self._run, name="llm-sandbox-link", daemon=True)

    def start(self) -> None:
        """Carry the stream in a thread."""
        self._thread.start()

    def abandon(self) -> None:
        """Close it before it was started."""
        if self._connected is not None:
            self._connected[0].connection.close()
        self._stream.close()

    def close(self) -> SupervisorEnd | None:
        """Close it, and return how the pod ended, if it did by itself."""
        # Its local socket is closed: the last bytes are sent, and process 1 is told.
        self._thread.join(_LAST_BYTES_S)
        if self._thread.is_alive():
            self._closing.set()
            self._stream.wake()
        return self._end

    def connect(self) -> None:
        """Connect, and prove to process 1 who this is.

        Raises:
            ApiError: The server refused.
            LinkError: Process 1 does not answer, or is another one.
            OSError: The server cannot be reached.
        """
        stream = self._connect()
        try:
            framed = FramedConnection(stream)
            passed_on = framed.introduce(self._key, self._stream.received, is_first=self._is_first)
        except BaseException:
            stream.close()
            raise
        self._connected = framed, passed_on

    def _run(self) -> None:
        try:
            while not self._closing.is_set():
                connected, self._connected = self._connected, None
                if connected is None:
                    if not self._connect_again():
                        return
                    continue
                framed, passed_on = connected
                self._is_first = False
                try:
                    self._stream.run(framed, passed_on)
                except ApiError:
                    pass  # the relay was ended; the next one may say why
                except OSError:
                    pass
                except LinkError as error:
                    # trust: what comes from inside may break the rules; that ends the stream.
                    self._end = SupervisorEnd(f"it does not keep to the protocol: {error}")
                    return
                finally:
                    framed.connection.close()
                if self._stream.ended:
                    self._end = self._end or self._wait_for_end()
                    return
        finally:
            self._stream.close()

    def _wait_for_end(self) -> SupervisorEnd | None:
        if not self._stream.ended_by_peer:
            return None
        deadline = time.monotonic() + _END_KNOWN_S
        while (found := self._find_end()) is None and time.monotonic() < deadline:
            time.sleep(_ANSWER_S)
        return found

    def _connect_again(self) -> bool:
        """Connect after a cut; return False if the pod has ended, or time is up."""
        deadline = time.monotonic() + self._patience_s
        pause = _FIRST_PAUSE_S
        words = "the connection to it was cut"
        while not self._closing.is_set():
            self._end = self._find_end()
            if self._end is not None:
                return False
            try:
                self.connect()
                return True
            except (ApiError, LinkError, OSError) as error:
                words = str(error)
            if time.monotonic() + pause > deadline:
                self._end = SupervisorEnd(f"it could not be reached for too long: {words}")
                return False
            self._closing.wait(pause)
            pause = min(_MOST_PAUSE_S, pause * 2)
        return False
