"""Stand-in for the controller of agent-sandbox, whose image no machine here can get.

It works on custom resources of the real API server: the definitions are those kinds without their
schemas, and what they mean is done as the project's documentation has it.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import threading
from typing import TYPE_CHECKING, Any

from llm_sandbox.backends.kubernetes.cluster import ApiError, Cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

CORE, EXTENSIONS, VERSION = "agents.x-k8s.io", "extensions.agents.x-k8s.io", "v1beta1"
KINDS = {
    "Sandbox": (CORE, "sandboxes"),
    "SandboxTemplate": (EXTENSIONS, "sandboxtemplates"),
    "SandboxWarmPool": (EXTENSIONS, "sandboxwarmpools"),
    "SandboxClaim": (EXTENSIONS, "sandboxclaims"),
}
POOL = "agents.x-k8s.io/pool"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
STEP_S = 0.1


@contextlib.contextmanager
def definitions(cluster: Cluster) -> Iterator[None]:
    """Define the kinds in a cluster, for as long as the block."""
    made = []
    for kind, (group, plural) in KINDS.items():
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        version = {
            "name": VERSION,
            "served": True,
            "storage": True,
            "schema": {"openAPIV3Schema": schema},
            "subresources": {"status": {}},
        }
        body = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {
                "group": group,
                "scope": "Namespaced",
                "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
                "versions": [version],
            },
        }
        cluster.request("POST", DEFINITIONS, body)
        made.append(f"{DEFINITIONS}/{plural}.{group}")
    try:
        yield
    finally:
        for path in made:
            cluster.request("DELETE", path)


class Controller:
    """Controller of one namespace.

    Args:
        cluster: The cluster, with the rights of an administrator.
        namespace: The namespace.

    Attributes:
        is_asleep: Whether it does nothing, as one that is not running.
    """

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self.is_asleep = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def close(self) -> None:
        """Stop."""
        self._ended.set()
        self._thread.join()

    def path(self, kind: str, name: str = "") -> str:
        """Return the path of the objects of a kind, or of one of them."""
        group, plural = KINDS[kind]
        base = f"/apis/{group}/{VERSION}/namespaces/{self._namespace}/{plural}"
        return f"{base}/{name}" if name else base

    def objects(self, kind: str) -> list[dict[str, Any]]:
        """Return the objects of a kind."""
        return list(self._cluster.request("GET", self.path(kind))["items"])

    def _work(self) -> None:
        while not self._ended.wait(STEP_S):
            if self.is_asleep:
                continue
            # What changed meanwhile is seen by the next step.
            with contextlib.suppress(ApiError):
                for pool in self.objects("SandboxWarmPool"):
                    self._fill(pool)
                claims = self.objects("SandboxClaim")
                for claim in claims:
                    self._serve(claim)
                self._collect({one["metadata"]["name"] for one in claims})

    def _pods(self) -> str:
        return f"/api/v1/namespaces/{self._namespace}/pods"

    def _waiting(self, pool: str) -> list[dict[str, Any]]:
        query = {"labelSelector": f"{POOL}={pool}"}
        return list(self._cluster.request("GET", self._pods(), query=query)["items"])

    def _fill(self, pool: dict[str, Any]) -> None:
        name = pool["metadata"]["name"]
        template = pool["spec"]["sandboxTemplateRef"]["name"]
        try:
            found = self._cluster.request("GET", self.path("SandboxTemplate", template))
        except ApiError:
            return
        for _ in range(pool["spec"]["replicas"] - len(self._waiting(name))):
            pod = {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": f"{name}-{os.urandom(4).hex()}", "labels": {POOL: name}},
                "spec": found["spec"]["podTemplate"]["spec"],
            }
            self._cluster.request("POST", self._pods(), pod)

    def _serve(self, claim: dict[str, Any]) -> None:
        metadata, spec = claim["metadata"], claim["spec"]
        end = datetime.datetime.fromisoformat(spec["lifecycle"]["shutdownTime"])
        if end < datetime.datetime.now(datetime.UTC):
            self._cluster.request("DELETE", self.path("SandboxClaim", metadata["name"]))
        if (claim.get("status") or {}).get("sandbox"):
            return
        pool = spec["warmPoolRef"]["name"]
        if all(one["metadata"]["name"] != pool for one in self.objects("SandboxWarmPool")):
            self._say(claim, "WarmPoolNotFound", f'SandboxWarmPool "{pool}" not found')
            return
        ready = [one for one in self._waiting(pool) if one["status"].get("phase") == "Running"]
        if not ready:
            self._say(claim, "SandboxNotReady", "Sandbox is not ready")
            return
        pod = ready[0]["metadata"]["name"]
        labels = {"metadata": {"labels": {POOL: None}}}
        self._cluster.request("PATCH", f"{self._pods()}/{pod}", labels)
        sandbox = {
            "apiVersion": f"{CORE}/{VERSION}",
            "kind": "Sandbox",
            "metadata": {
                "name": f"of-{metadata['name']}",
                "annotations": {"agents.x-k8s.io/pod-name": pod},
            },
        }
        self._cluster.request("POST", self.path("Sandbox"), sandbox)
        self._say(claim, "SandboxReady", "Sandbox is ready", sandbox["metadata"]["name"])

    def _say(
        self, claim: dict[str, Any], reason: str, message: str, sandbox: str | None = None
    ) -> None:
        is_ready = "False" if sandbox is None else "True"
        ready = {"type": "Ready", "status": is_ready, "reason": reason, "message": message}
        status: dict[str, Any] = {"conditions": [ready]}
        if sandbox is not None:
            status["sandbox"] = {"name": sandbox}
        path = f"{self.path('SandboxClaim', claim['metadata']['name'])}/status"
        self._cluster.request("PATCH", path, {"status": status})

    def _collect(self, claims: set[str]) -> None:
        """Delete the sandboxes whose claim is gone, with their pods."""
        for sandbox in self.objects("Sandbox"):
            name = sandbox["metadata"]["name"]
            if name.removeprefix("of-") in claims:
                continue
            pod = sandbox["metadata"]["annotations"]["agents.x-k8s.io/pod-name"]
            for path in (f"{self._pods()}/{pod}", self.path("Sandbox", name)):
                with contextlib.suppress(ApiError):
                    self._cluster.request("DELETE", path, {"gracePeriodSeconds": 0})
