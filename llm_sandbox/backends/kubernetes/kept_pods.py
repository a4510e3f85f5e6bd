"""Pods that outlive their clients: how one is found, connected to, and known to have ended."""

import contextlib
import json
import os
import socket
import time
import weakref
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, Any, Final

from llm_sandbox.backends.base import Backend, Isolation, MachineSpec
from llm_sandbox.backends.connection import SupervisorEnd
from llm_sandbox.backends.kept import KeptEnd, Place
from llm_sandbox.backends.kubernetes.cluster import ApiError, Cluster
from llm_sandbox.backends.kubernetes.exec_stream import ExecStream
from llm_sandbox.backends.kubernetes.kept_machine import KeptPodHost, KeptPodMachine
from llm_sandbox.backends.kubernetes.link import RESERVE_S, PodLink
from llm_sandbox.backends.kubernetes.pod_status import find_end
from llm_sandbox.backends.kubernetes.pods import Pods
from llm_sandbox.backends.relayed_supervisor import ControlPair, RelayedSupervisor
from llm_sandbox.exceptions import (
    BackendError,
    BackendUnavailableError,
    ContainerGoneError,
    SecurityError,
)
from llm_sandbox.guest.mux import StdioTransport
from llm_sandbox.guest.resumable import KEY_SIZE, LinkError

if TYPE_CHECKING:
    from llm_sandbox.backends.kubernetes.backend import KubernetesBackend

__all__ = ["KeptPodLink", "KeptPods", "place_of"]

_CONNECT_S: Final = 20.0
_PAUSE_S: Final = 0.3
_HELLO_S: Final = 30.0
_REASONS: Final = ("closed", "deadline", "exited", "idle", "oom", "terminated")
_MOST_WORDS: Final = 4096


def place_of(backend: "KubernetesBackend", pod: str, uid: str, container: str) -> Place:
    """Return the place of a pod."""
    given = backend.options.pod
    return {
        "server": backend.pods.cluster.address,
        "context": given.context,
        "kubeconfig": given.kubeconfig,
        "namespace": backend.pods.namespace,
        "pod": pod,
        "uid": uid,
        "container": container,
    }


class KeptPods:
    """See `Keeper`.

    Args:
        backend: The backend.
    """

    def __init__(self, backend: "KubernetesBackend") -> None:
        self._backend = backend

    def create(self, spec: MachineSpec, machine_id: str, key: bytes) -> Any:
        """See `Keeper`."""
        return self._backend.create_kept(spec, machine_id, key)

    def connect(self, place: Place, key: bytes) -> "KeptPodLink":
        """See `Keeper`."""
        return KeptPodLink(self._backend, _pods(place), place, key)

    def find_end(self, place: Place) -> KeptEnd | None:
        """See `Keeper`."""
        return _find_end(_pods(place), place)

    def delete(self, place: Place) -> None:
        """See `Keeper`."""
        _pods(place).delete(_text(place, "pod"), _text(place, "uid"))


def _text(place: Place, name: str) -> str:
    return str(place.get(name) or "")


def _pods(place: Place) -> Pods:
    """Return the pods of the namespace of a place.

    Raises:
        BackendUnavailableError: The cluster is not the one that the pod was made in.
    """
    cluster = Cluster(None, context=place.get("context"), kubeconfig=place.get("kubeconfig"))
    if cluster.address != place.get("server"):
        raise BackendUnavailableError(
            f"the pod {place.get('pod')} is in the cluster {place.get('server')}, and this process "
            f"is connected to {cluster.address}",
            backend="kubernetes",
            hint="name that cluster: KUBECONFIG, or kubectl config use-context",
        )
    return Pods(cluster, _text(place, "namespace"))


def _find_end(pods: Pods, place: Place) -> KeptEnd | None:
    pod = pods.find(_text(place, "pod"))
    if pod is None or pod["metadata"]["uid"] != place.get("uid"):
        return KeptEnd("gone", 137)
    end = find_end(pod, _text(place, "container"))
    if end is None:
        return None
    if end.oom_killed:
        return KeptEnd("oom", 137)
    return _read_message(pod, _text(place, "container")) or KeptEnd("gone", 137)


def _read_message(pod: Mapping[str, Any], container: str) -> KeptEnd | None:
    """Return the end that process 1 has left as the termination message of its container."""
    for one in (pod.get("status") or {}).get("containerStatuses") or ():
        ended = (one.get("state") or {}).get("terminated") or {}
        # A process 1 that was killed has written nothing: others could have.
        if one.get("name") == container and ended.get("exitCode") == 0:
            # trust: from inside; only known words are taken.
            with contextlib.suppress(ValueError, TypeError, KeyError, RecursionError):
                said = json.loads(str(ended.get("message") or "")[:_MOST_WORDS])
                reason, code = said["reason"], said["exit_code"]
                if reason in _REASONS and isinstance(code, int) and 0 <= code <= 255:
                    return KeptEnd(reason, code)
    return None


class KeptPodLink:
    """See `KeptLink`.

    Args:
        backend: A backend with any options.
        pods: Pods of the namespace.
        place: Place of the pod.
        key: The key of its clients.

    Raises:
        As `Keeper.connect`.
    """

    def __init__(self, backend: "KubernetesBackend", pods: Pods, place: Place, key: bytes) -> None:
        self._backend = backend
        self._pods = pods
        self._place = place
        self._key = key
        self._control_pair = ControlPair()
        self._host = KeptPodHost(
            self._launch,
            backend="kubernetes",
            channel=self._control_pair.host_end,
            start_s=_CONNECT_S + _HELLO_S,
        )
        # Nothing else refers to a machine whose user has forgotten it.
        self._host.machines = weakref.WeakValueDictionary()  # type: ignore[assignment]
        backend.hold(self._host)

    @property
    def words(self) -> str | None:
        """See `KeptLink`."""
        kept = self._host.connection.hello.get("kept")
        return None if kept is None else str(kept["words"])

    def machine(
        self, backend: Backend, machine_id: str, spec: MachineSpec, isolation: Isolation
    ) -> KeptPodMachine:
        """See `KeptLink`."""
        assert hasattr(backend, "confinement_of")  # noqa: S101 - the record's own backend
        confinement, image = backend.confinement_of(spec)
        kept = self._host.connection.hello["kept"]
        machine = KeptPodMachine(
            self._host.connection,
            spec,
            isolation,
            place=self._place,
            pods=self._pods,
            pod=_text(self._place, "pod"),
            image=image,
            confinement=confinement,
            loaded=self._host.zygote_settled,
            machine_id=machine_id,
        )
        self._host.machines[machine.id] = machine
        machine.tags = {str(name): str(value) for name, value in kept["tags"].items()}
        weakref.finalize(machine, self._host.connection.close).atexit = False
        return machine

    def close(self) -> None:
        """See `KeptLink`."""
        self._host.connection.close()

    def _launch(self, far: socket.socket, log: IO[bytes]) -> RelayedSupervisor:
        pods, place = self._pods, self._place
        end = _find_end(pods, place)
        if end is not None:
            raise ContainerGoneError(f"the pod has ended ({end.reason})", backend="kubernetes")
        near, local = socket.socketpair()

        def find_supervisor_end() -> SupervisorEnd | None:
            pod = pods.find(_text(place, "pod"))
            same = pod is not None and pod["metadata"]["uid"] == place.get("uid")
            return find_end(pod if same else None, _text(place, "container"))

        def run_relay() -> ExecStream:
            names = _text(place, "pod"), _text(place, "container")
            return ExecStream(pods.cluster, pods.namespace, *names, self._backend.relay, log)

        patience_s = self._backend.options.pod.orphan_after - RESERVE_S
        link = PodLink(
            local,
            run_relay,
            find_supervisor_end,
            patience_s,
            self._key,
            stream=os.urandom(KEY_SIZE),
        )
        try:
            self._connect(link)
        except BaseException:
            near.close()
            link.abandon()
            raise
        link.start()
        descriptor = near.fileno()
        return RelayedSupervisor(
            near,
            StdioTransport(descriptor, descriptor),
            self._control_pair.supervisor_end(far.dup()),
            link.close,
        )

    def _connect(self, link: PodLink) -> None:
        deadline = time.monotonic() + _CONNECT_S
        while True:
            try:
                link.connect()
                return
            except ApiError as error:
                words: str = error.words
                if error.status in (401, 403):
                    raise
            except (LinkError, OSError) as error:
                words = str(error)
                if "the key" in words:
                    raise SecurityError(
                        f"the pod {self._place.get('pod')} belongs to somebody else: it does not "
                        "know the key of this user",
                        backend="kubernetes",
                        hint="attach as the user, and on the computer, that created the sandbox",
                    ) from None
                if "refuses" in words:
                    raise self._unreachable(words) from None
            if _find_end(self._pods, self._place) is not None:
                raise ContainerGoneError("the pod has just ended", backend="kubernetes")
            if time.monotonic() > deadline:
                raise self._unreachable(words)
            time.sleep(_PAUSE_S)

    def _unreachable(self, words: str) -> BackendError:
        pod = self._place.get("pod")
        return BackendUnavailableError(
            f"the pod {pod} lives, and cannot be connected to: {words}",
            backend="kubernetes",
            hint=f"detach from it elsewhere, or look: kubectl describe pod {pod} "
            f"-n {self._pods.namespace}",
        )
