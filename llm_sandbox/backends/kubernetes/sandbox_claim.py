"""Claims of agent-sandbox: a pod from a warm pool that its controller keeps."""

import contextlib
import datetime
import os
import threading
import time
from collections.abc import Mapping
from typing import Any, Final

from llm_sandbox.backends.kubernetes.cluster import ApiError
from llm_sandbox.backends.kubernetes.manifest import MANAGED_BY
from llm_sandbox.backends.kubernetes.pods import Pods
from llm_sandbox.exceptions import BackendUnavailableError, SandboxError

__all__ = ["CLAIMS", "SANDBOXES", "VERSION", "SandboxClaim"]

CLAIMS: Final = "extensions.agents.x-k8s.io"
"""API group of claims, pools and templates."""
SANDBOXES: Final = "agents.x-k8s.io"
"""API group of sandboxes."""
VERSION: Final = "v1beta1"
"""Version of both."""
_POD_NAME: Final = "agents.x-k8s.io/pod-name"
"""Annotation of a sandbox with the name of its pod, where that is another than its own."""
_FINAL: Final = frozenset(
    {
        "ClaimExpired",
        "EnvVarsInjectionRejected",
        "InvalidConfiguration",
        "InvalidMetadata",
        "PodFailed",
        "PodSucceeded",
        "SandboxExpired",
        "TemplateNotFound",
        "VolumeClaimTemplatesError",
        "WarmPoolNotFound",
    }
)
"""Reasons for which a claim is not ready, and never will be."""
_LEASE_S: Final = 600.0
_RENEW_S: Final = 150.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.03, 0.5


class SandboxClaim:
    """Claim of a pod from a warm pool of `agent-sandbox <https://agent-sandbox.sigs.k8s.io>`_.

    The controller deletes the claim, and the pod with it, ten minutes after the last time that this
    process has prolonged it.

    Args:
        pods: Pods of the namespace.
        warm_pool: Name of the ``SandboxWarmPool``.

    Raises:
        ApiError: The server refused.
        BackendUnavailableError: The cluster has no agent-sandbox, or does not answer.
    """

    def __init__(self, pods: Pods, warm_pool: str) -> None:
        self._pods = pods
        self._warm_pool = warm_pool
        self.name = f"llm-sandbox-{os.urandom(8).hex()}"
        """Its name."""
        self._path = f"/apis/{CLAIMS}/{VERSION}/namespaces/{pods.namespace}/sandboxclaims"
        self._ended = threading.Event()
        body = {
            "apiVersion": f"{CLAIMS}/{VERSION}",
            "kind": "SandboxClaim",
            "metadata": {"name": self.name, "labels": dict(MANAGED_BY)},
            # Anything else would have the controller start a pod of its own.
            "spec": {"warmPoolRef": {"name": warm_pool}, "lifecycle": _lifecycle()},
        }
        try:
            pods.cluster.request("POST", self._path, body)
        except ApiError as error:
            # An earlier request of this call has arrived, as nobody else has the name.
            if error.status == 404:
                raise self._unavailable(
                    "the cluster has no agent-sandbox",
                    hint="install its extensions, or leave out warm_pool=",
                ) from None
            if error.status != 409:
                raise
        threading.Thread(target=self._prolong, name="llm-sandbox-claim", daemon=True).start()

    def wait(self, timeout_s: float) -> str:
        """Wait for the pod, and return its name.

        Args:
            timeout_s: Seconds to wait.

        Raises:
            ApiError: The server refused.
            BackendUnavailableError: There is no pod in time, or there will never be one.
        """
        deadline = time.monotonic() + timeout_s
        pause = _FIRST_PAUSE_S
        while True:
            found = self._pods.cluster.request("GET", f"{self._path}/{self.name}")
            status = found.get("status") or {}
            ready = _condition(status, "Ready")
            if ready.get("status") == "True":
                return self._pod_of(str(status["sandbox"]["name"]))
            words = f"{ready.get('reason') or 'no answer'}: {ready.get('message') or 'none yet'}"
            if ready.get("reason") in _FINAL:
                raise self._unavailable(
                    f"the warm pool {self._warm_pool!r} gives no pod: {words}",
                    hint=f"look: kubectl get sandboxwarmpools -n {self._pods.namespace}",
                )
            if time.monotonic() > deadline:
                raise self._unavailable(
                    f"the warm pool {self._warm_pool!r} gave no pod in {timeout_s:g} s: {words}",
                    hint=f"look: kubectl get sandboxclaims,sandboxwarmpools -n "
                    f"{self._pods.namespace}; is its controller running?",
                )
            time.sleep(pause)
            pause = min(_LONGEST_PAUSE_S, pause * 1.5)

    def _pod_of(self, sandbox: str) -> str:
        path = f"/apis/{SANDBOXES}/{VERSION}/namespaces/{self._pods.namespace}/sandboxes/{sandbox}"
        metadata = self._pods.cluster.request("GET", path)["metadata"]
        return str((metadata.get("annotations") or {}).get(_POD_NAME) or sandbox)

    def _prolong(self) -> None:
        while not self._ended.wait(_RENEW_S):
            with contextlib.suppress(SandboxError):
                self._pods.cluster.request(
                    "PATCH", f"{self._path}/{self.name}", {"spec": {"lifecycle": _lifecycle()}}
                )

    def delete(self) -> None:
        """Delete the claim, and the pod with it; no effect if repeated."""
        self._ended.set()
        with contextlib.suppress(SandboxError):  # then its time ends it
            self._pods.cluster.request("DELETE", f"{self._path}/{self.name}", retry_s=5.0)

    def _unavailable(self, message: str, hint: str) -> BackendUnavailableError:
        return BackendUnavailableError(message, backend="kubernetes", hint=hint)


def _lifecycle() -> dict[str, str]:
    end = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=_LEASE_S)
    return {"shutdownTime": end.strftime("%Y-%m-%dT%H:%M:%SZ"), "shutdownPolicy": "Delete"}


def _condition(status: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    found = [one for one in status.get("conditions") or () if one.get("type") == kind]
    return found[0] if found else {}
