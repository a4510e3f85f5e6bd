"""Existing pods of the caller: entering one, and leaving it as it was."""

import os
import socket
import time
from collections.abc import Mapping, Sequence
from typing import IO, Any, Final

from llm_sandbox.backends.base import Control, Isolation, MachineSpec
from llm_sandbox.backends.connection import SupervisorEnd
from llm_sandbox.backends.image_machine import supervisor_command
from llm_sandbox.backends.kubernetes.cluster import ApiError
from llm_sandbox.backends.kubernetes.exec_stream import ExecStream, Log
from llm_sandbox.backends.kubernetes.link import RESERVE_S, PodLink, relay_command
from llm_sandbox.backends.kubernetes.pod_status import find_end
from llm_sandbox.backends.kubernetes.pods import Pods
from llm_sandbox.backends.relayed_supervisor import ControlPair, RelayedSupervisor
from llm_sandbox.backends.runtime import Runtime, pack
from llm_sandbox.exceptions import (
    BackendError,
    BackendUnavailableError,
    ContainerGoneError,
    SandboxError,
    UnsupportedError,
)
from llm_sandbox.guest.mux import StdioTransport
from llm_sandbox.guest.resumable import KEY_SIZE

__all__ = ["AttachedPodLaunch", "ExistingPod"]

_NAME: Final = "kubernetes"
_FOLDERS: Final = ("/opt", "/var/tmp", "/tmp", "/run")  # noqa: S108 - inside
"""Folders that the runtime is copied to: the first in which programs may be made and started."""
_COPY: Final = (
    'for folder in "$@"; do mkdir -m 755 "$folder" 2>/dev/null || continue; '
    'cp /bin/true "$folder/try" 2>/dev/null && "$folder/try" && rm "$folder/try" '
    '&& { echo "at $folder"; head -c "$0" | tar -xf - -C "$folder" && echo copied; exit; }; '
    'rm -rf "$folder"; done; echo "none of these can be made: $*" >&2'
)
"""Copies an archive of so many bytes to the first folder that can be made. Its standard input has
no end, which `tar` would wait for."""
_PAUSE_S: Final = 0.005
_MOST_QUEUED: Final = 1 << 20
_COPY_S: Final = 120.0
_START_S: Final = 30.0
_MOST_WORDS: Final = 4096


class ExistingPod:
    """Running pod of the caller.

    Args:
        pods: Pods of its namespace.
        name: Its name; ``pod/container`` for another container than the first.

    Raises:
        ContainerGoneError: There is no such pod or container, or it does not run.
    """

    def __init__(self, pods: Pods, name: str) -> None:
        self.pods = pods
        self.name, _, wanted = name.partition("/")
        pod = pods.find(self.name)
        where = f"the namespace {pods.namespace!r}"
        if pod is None:
            raise ContainerGoneError(
                f"{where} has no pod {self.name!r}",
                backend=_NAME,
                hint=f"kubectl get pods -n {pods.namespace} lists those there are",
            )
        containers = {one["name"]: one for one in pod["spec"]["containers"]}
        self.container = wanted or next(iter(containers))
        if self.container not in containers:
            raise ContainerGoneError(
                f"the pod {self.name!r} has no container {self.container!r}",
                backend=_NAME,
                hint=f"it has: {', '.join(containers)}",
            )
        self.uid = str(pod["metadata"]["uid"])
        self.image = str(containers[self.container].get("image") or "")
        self._spec = pod["spec"], containers[self.container]
        self.check_running(pod)

    def check_running(self, pod: Mapping[str, Any] | None = None) -> None:
        """Raise ContainerGoneError if its container does not run."""
        end = self.find_end(pod)
        status = ((pod or {}).get("status") or {}).get("containerStatuses") or ()
        states = {one["name"]: one.get("state") or {} for one in status}
        if end is not None or (pod is not None and "running" not in states.get(self.container, {})):
            words = end.words if end is not None else "its container has not started"
            raise ContainerGoneError(
                f"the pod {self.name!r} does not run: {words}",
                backend=_NAME,
                hint=f"look: kubectl describe pod -n {self.pods.namespace} {self.name}",
            )

    def find_end(self, pod: Mapping[str, Any] | None = None) -> SupervisorEnd | None:
        """Return how the pod ended; None while it runs.

        Args:
            pod: The pod; None to look it up.
        """
        found = pod
        if found is None:
            found = self.pods.find(self.name)
        if found is not None and found["metadata"]["uid"] != self.uid:
            found = None
        return find_end(found, self.container)

    def execute(self, command: Sequence[str], log: Log | None) -> ExecStream:
        """Execute a program in it; see `ExecStream`."""
        pods = self.pods
        return ExecStream(pods.cluster, pods.namespace, self.name, self.container, command, log)

    def isolation(self) -> Isolation:
        """Return its isolation, as its creator made it."""
        return Isolation(_NAME, "container", _controls(*self._spec))


class AttachedPodLaunch:
    """Launch of a supervisor in an existing pod; see `backends.connection.Launch`.

    The runtime is copied into a folder of its own, which the supervisor removes when it ends: when
    its host says so, or nobody has been connected to it for `orphan_after`.

    Args:
        pod: The pod.
        runtime: The runtime.
        spec: The machine.
        orphan_after: Seconds without a connection after which it ends by itself.
    """

    def __init__(
        self, pod: ExistingPod, runtime: Runtime, spec: MachineSpec, orphan_after: float
    ) -> None:
        self.control_pair = ControlPair()
        self._pod = pod
        self._runtime = runtime
        self._spec = spec
        self._orphan_after = orphan_after
        self._id = os.urandom(8).hex()
        self.root = ""
        """Folder of the runtime; empty until it is copied."""

    def __call__(self, far: socket.socket, log: IO[bytes]) -> RelayedSupervisor:
        try:
            self._copy()
            key = os.urandom(KEY_SIZE)
            address = f"\0llm-sandbox-{self._id}"
            self._start(address, key, log)
        except (OSError, SandboxError) as error:
            self._pod.check_running()
            if isinstance(error, SandboxError):
                raise
            raise BackendUnavailableError(
                f"the pod {self._pod.name} cannot be entered: {error}", backend=_NAME
            ) from None
        start = self._runtime.command_below(self.root)
        relay = relay_command(start, self.root, address)
        near, local = socket.socketpair()
        link = PodLink(
            local,
            lambda: self._pod.execute(relay, log),
            self._pod.find_end,
            self._orphan_after - RESERVE_S,
            key,
        )
        link.start()
        descriptor = near.fileno()
        return RelayedSupervisor(
            near,
            StdioTransport(descriptor, descriptor),
            self.control_pair.supervisor_end(far.dup()),
            link.close,
        )

    def _copy(self) -> None:
        """Copy the runtime into the pod."""
        archive = pack(self._runtime)
        folders = [f"{folder}/.llm-sandbox-{self._id}" for folder in _FOLDERS]
        words = _Words()
        stream = self._pod.execute(["sh", "-c", _COPY, str(len(archive)), *folders], words)
        try:
            # What a program that has ended does not read would hold up its status.
            found = _talk(stream, b"", b"\n", _START_S)
            if found:
                found += _talk(stream, archive, b"copied", _COPY_S)
        except ApiError as error:
            raise UnsupportedError(
                "container_id", _NAME, f"its image has no shell to copy with: {error.words}"
            ) from None
        finally:
            stream.close()
        # trust: a folder that was asked for, or none.
        named = found.partition(b"at ")[2].partition(b"\n")[0].decode("utf-8", "replace")
        if b"copied" not in found or named not in folders:
            raise UnsupportedError(
                "container_id",
                _NAME,
                f"nothing can be copied into it: {words.text or 'it has no tar, or no space'}",
            )
        self.root = named

    def _start(self, address: str, key: bytes, log: IO[bytes]) -> None:
        command = supervisor_command(
            self._runtime.command_below(self.root),
            spec=self._spec,
            root=self.root,
            folders=[self.root],
            pod={"orphan_after": self._orphan_after, "address": address},
        )
        stream = self._pod.execute(command, log)
        try:
            if b"listening" not in _talk(stream, key, b"listening", _START_S):
                raise BackendError("the supervisor did not start", backend=_NAME)
        finally:
            # It goes on without the connection that has started it.
            stream.close()


def _talk(stream: ExecStream, data: bytes, last: bytes, wait_s: float) -> bytes:
    """Send a program its input, and return what it writes up to a last word, or its end."""
    deadline = time.monotonic() + wait_s
    found = b""
    at = 0
    while last not in found and time.monotonic() < deadline and len(found) < _MOST_WORDS:
        while at < len(data) and stream.waiting < _MOST_QUEUED:
            stream.send(data[at : at + (1 << 16)])
            at += 1 << 16
        more = stream.receive()
        if more is None:
            break
        found += more
        stream.flush()
        time.sleep(_PAUSE_S)
    return found


class _Words:
    """Beginning of the messages of a program."""

    def __init__(self) -> None:
        self._data = b""

    def write(self, data: bytes) -> None:
        self._data = (self._data + data)[:_MOST_WORDS]

    def flush(self) -> None:
        pass

    @property
    def text(self) -> str:
        return self._data.decode("utf-8", "replace").strip()


def _controls(pod: Mapping[str, Any], container: Mapping[str, Any]) -> dict[str, Control]:
    by = "as it was made"

    def held(condition: object, otherwise: str) -> Control:
        return Control("enforced", by) if condition else Control("absent", otherwise)

    own, whole = container.get("securityContext") or {}, pod.get("securityContext") or {}
    limits = (container.get("resources") or {}).get("limits") or {}
    privileged = bool(own.get("privileged"))
    host_files = any("hostPath" in volume for volume in pod.get("volumes") or ())
    profile = (own.get("seccompProfile") or whole.get("seccompProfile") or {}).get("type")
    shares = pod.get("hostPID") or pod.get("shareProcessNamespace")
    return {
        "files": held(not (privileged or host_files), "it is privileged, or has a hostPath"),
        "network": Control("absent", "it has the network that it was made with"),
        "processes": held(not shares, "it shares process numbers"),
        "privileges": held(
            "ALL" in ((own.get("capabilities") or {}).get("drop") or ()),
            "it has the capabilities that it was made with",
        ),
        "system_calls": held(
            not privileged and profile in ("RuntimeDefault", "Localhost"),
            "its manifest has no seccomp profile",
        ),
        "process_count": Control("absent", "the limit of the node for a pod, which is not known"),
        "disk": held("ephemeral-storage" in limits, "it has no limit"),
        "lifetime": Control("approximated", "a supervisor ends what it started, and nothing else"),
        "memory": Control("enforced", by)
        if "memory" in limits
        else Control("approximated", "RLIMIT_DATA a process; the sum is open"),
        "cpu": held("cpu" in limits, "it has no limit"),
    }
