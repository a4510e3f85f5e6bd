"""Launch of a pod with the supervisor as process 1, and the stream that leads to it."""

import contextlib
import socket
import time
from collections.abc import Sequence
from typing import IO, Any

from llm_sandbox.backends.connection import SupervisorEnd
from llm_sandbox.backends.kubernetes.cluster import ApiError
from llm_sandbox.backends.kubernetes.exec_stream import ExecStream
from llm_sandbox.backends.kubernetes.link import FIRST_PAUSE_S, RESERVE_S, PodLink
from llm_sandbox.backends.kubernetes.manifest import PodPlan
from llm_sandbox.backends.kubernetes.pod_status import (
    describe_events,
    find_end,
    find_start_error,
    look_at,
    progress,
)
from llm_sandbox.backends.kubernetes.pods import Pods
from llm_sandbox.backends.python_environment import GUEST_ROOT
from llm_sandbox.backends.relayed_supervisor import ControlPair, RelayedSupervisor
from llm_sandbox.exceptions import BackendError, BackendUnavailableError, SandboxError
from llm_sandbox.guest.mux import StdioTransport
from llm_sandbox.guest.resumable import LinkError

__all__ = ["PodLaunch"]

_ANSWER_S = 0.3
"""Seconds between two looks at a pod that starts."""


class PodLaunch:
    """Launch of a new pod; see `backends.connection.Launch`.

    Args:
        pods: The namespace's pods.
        plan: The pod.
        relay: Command line of the relay to process 1.
        start_s: Seconds within which it has to run.
        orphan_after: Seconds without a connection after which it ends by itself.
        key: Key of a pod that outlives this process; None for one that ends with it.
    """

    def __init__(
        self,
        pods: Pods,
        plan: PodPlan,
        relay: Sequence[str],
        *,
        start_s: float,
        orphan_after: float,
        key: bytes | None = None,
    ) -> None:
        self._pods = pods
        self._key = key
        self._plan = plan
        self._relay = relay
        self._start_s = start_s
        self._patience_s = orphan_after - RESERVE_S
        self.control_pair = ControlPair()
        self.deletes = True
        """True if the pod is deleted when the connection has ended."""
        self.name = ""
        """The pod's name; empty until it is created."""
        self.root = GUEST_ROOT
        """Folder of the runtime."""
        self.uid = ""
        """The pod's uid; empty until it is created."""

    def __call__(self, far: socket.socket, log: IO[bytes]) -> RelayedSupervisor:
        is_kept = self._key is not None
        pod = self._pods.create(self._plan.manifest, start_s=self._start_s, is_kept=is_kept)
        self.name, self.uid = pod["metadata"]["name"], pod["metadata"]["uid"]
        near, local = socket.socketpair()
        link = PodLink(
            local,
            lambda: self._connect(log),
            self._find_end,
            self._patience_s,
            self._key,
            brings_key=is_kept,
        )
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
            if self.deletes:
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
            self._pods.delete(self.name, self.uid)

    def _connect(self, log: IO[bytes] | None) -> ExecStream:
        pods = self._pods
        return ExecStream(
            pods.cluster, pods.namespace, self.name, self._plan.container, self._relay, log
        )

    def _find_end(self) -> SupervisorEnd | None:
        """Return how the pod ended; None while it runs."""
        pod = self._pods.find(self.name)
        if pod is not None and pod["metadata"]["uid"] != self.uid:
            pod = None
        return find_end(pod, self._plan.container)

    def _wait_until_started(self, link: PodLink) -> None:
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
            time.sleep(FIRST_PAUSE_S)

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
