"""Network policy that cuts pods off, and the proof that the cluster enforces it.

A cluster whose network plugin knows no policies accepts them all the same. So a pod without the
policy looks for addresses that answer, and a pod with it must reach none of them.
"""

import contextlib
import hashlib
import json
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from llm_sandbox.backends.base import Control
from llm_sandbox.backends.kubernetes.cluster import ApiError, Cluster
from llm_sandbox.backends.kubernetes.machine import PodMachine
from llm_sandbox.backends.kubernetes.manifest import MANAGED_BY
from llm_sandbox.backends.kubernetes.pods import Pods
from llm_sandbox.exceptions import SandboxError, UnsupportedError
from llm_sandbox.settings import get_settings

__all__ = ["NETWORK", "POLICY", "NetworkPolicy", "find_policy", "policy_manifest"]

POLICY: Final = "llm-sandbox-blocked"
"""Name of the policy."""
NETWORK: Final = "llm-sandbox/network"
"""Label of pods with their network: ``blocked`` or ``open``."""

_VALID_S: Final = 3600.0
_KUBELET_PORT: Final = 10250
_METADATA: Final = "169.254.169.254:80"
_PAUSE_S: Final = 0.3
_TAKES_EFFECT_S: Final = 15.0
_ANSWERS_AGAIN_S: Final = 60.0
_PROOFS: Final = 2


def policy_manifest(selector: Mapping[str, Any]) -> dict[str, Any]:
    """Return the policy.

    Args:
        selector: Selector of its pods.
    """
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": POLICY, "labels": dict(MANAGED_BY)},
        "spec": {"podSelector": dict(selector), "policyTypes": ["Ingress", "Egress"]},
    }


def find_policy(cluster: Cluster, namespace: str) -> dict[str, Any] | None:
    """Return the policy of a namespace; None where there is none, or none that the user may see.

    Raises:
        ApiError: The server refused.
        BackendUnavailableError: The server does not answer.
    """
    try:
        return cluster.request("GET", f"{_path(namespace)}/{POLICY}")
    except ApiError as error:
        if error.status not in (403, 404):
            raise
        return None


def _path(namespace: str) -> str:
    return f"/apis/networking.k8s.io/v1/namespaces/{namespace}/networkpolicies"


class NetworkPolicy:
    """Policy of one namespace that denies its pods everything. Safe to use from several threads.

    Args:
        pods: The namespace's pods.
    """

    def __init__(self, pods: Pods) -> None:
        self._pods = pods
        self._lock = threading.Lock()
        self._proving = threading.Lock()
        self._exists = False
        self._control: Control | None = None

    @property
    def control(self) -> Control:
        """Line of the isolation report on the network of pods with the policy."""
        return self._control or Control("approximated", "a network policy, not proved yet")

    def ensure(self) -> None:
        """Create the policy unless it exists.

        Raises:
            ApiError: The server refused.
            BackendUnavailableError: The server does not answer.
        """
        with self._lock:
            if self._exists:
                return
            cluster, namespace = self._pods.cluster, self._pods.namespace
            if find_policy(cluster, namespace) is None:
                policy = policy_manifest({"matchLabels": {NETWORK: "blocked"}})
                try:
                    cluster.request("POST", _path(namespace), policy)
                except ApiError as error:
                    if error.status != 409:
                        raise
            self._exists = True

    @property
    def was_tried(self) -> bool:
        """True if the policy was tried, by this process or in the last hour; see `control`."""
        with self._lock:
            if self._control is None:
                self._control = self._read()
            return self._control is not None

    def forget(self) -> None:
        """Forget what was tried, so that the next machine proves it anew."""
        with self._lock:
            self._control = None
            self._record().unlink(missing_ok=True)

    def prove(self, machine: PodMachine, make_open: Callable[[], PodMachine]) -> None:
        """Prove with a new machine that pods with the policy are cut off, unless that is known.

        Args:
            machine: A machine with the policy, in which no code of a user has run.
            make_open: Makes one without it; it is destroyed here.

        Raises:
            UnsupportedError: They are not.
            SandboxError: The machine without the policy could not be made.
        """
        with self._proving:
            if self.was_tried:
                return
            # A plugin may cut off a pod until it knows it. As the open pod is the younger one, a
            # plugin that lets it through knows the other, too.
            open_machine = make_open()
            try:
                control = self._compare(machine, open_machine)
            finally:
                open_machine.destroy()
            with self._lock:
                self._control = control
                if control.state == "enforced":
                    self._write(control.by)

    def _compare(self, machine: PodMachine, open_machine: PodMachine) -> Control:
        candidates = self._candidates(open_machine)
        started = time.monotonic()
        has_answered, proofs = False, 0
        while True:
            answering = open_machine.reachable(candidates)
            has_answered = has_answered or bool(answering)
            reached = machine.reachable(answering) if answering else []
            # What the blocked pod did not reach has to answer still, and that twice: a network that
            # fails for a moment cuts off both.
            if answering and not reached and (answering := open_machine.reachable(answering)):
                proofs += 1
                if proofs == _PROOFS:
                    return Control(
                        "enforced",
                        f"a network policy; {answering[0]} answers other pods, and not these",
                    )
                continue
            proofs = 0
            passed_s = time.monotonic() - started
            if reached and passed_s > _TAKES_EFFECT_S:
                raise UnsupportedError(
                    "network='blocked'",
                    "kubernetes",
                    "this cluster's network plugin does not enforce NetworkPolicy: a pod that is "
                    f"denied everything can connect to {', '.join(reached)}",
                    hint="install one that does, such as Calico or Cilium; or network='open'",
                )
            if passed_s > (_ANSWERS_AGAIN_S if has_answered else _TAKES_EFFECT_S):
                return Control(
                    "approximated",
                    "a network policy; nothing was found that answers without it, so that its "
                    "enforcement is not proved",
                )
            time.sleep(_PAUSE_S)

    def _candidates(self, machine: PodMachine) -> list[str]:
        """Return addresses that answer in most clusters."""
        found = [machine.service_address, _METADATA]
        pod = self._pods.find(machine.pod) or {}
        host = pod.get("status", {}).get("hostIP")
        if host:
            port = _KUBELET_PORT
            with contextlib.suppress(SandboxError, KeyError):
                path = f"/api/v1/nodes/{pod['spec']['nodeName']}"
                node = self._pods.cluster.request("GET", path, retry_s=1.0)
                port = int(node["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"])
            found.append(f"{host}:{port}")
        return [address for address in found if not address.startswith(":")]

    def _record(self) -> Path:
        where = f"{self._pods.cluster.address} {self._pods.namespace}"
        name = hashlib.sha256(where.encode()).hexdigest()[:16]
        return get_settings().cache_dir / "kubernetes" / f"{name}.json"

    def _read(self) -> Control | None:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            known = json.loads(self._record().read_bytes())
            if 0 <= time.time() - float(known["at"]) < _VALID_S:
                return Control("enforced", str(known["by"]))
        return None

    def _write(self, by: str) -> None:
        path = self._record()
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"at": time.time(), "by": by}))
