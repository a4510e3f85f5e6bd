"""Pods of one namespace: creation, look-up and removal."""

import contextlib
import datetime
import os
from collections.abc import Mapping
from typing import Any, Final

from llm_sandbox.backends.inventory import current_owner
from llm_sandbox.backends.kubernetes.cluster import ApiError, Cluster
from llm_sandbox.backends.kubernetes.manifest import MANAGED_BY
from llm_sandbox.exceptions import SandboxError

__all__ = ["KEPT", "OWNER", "PROCESS", "START_BY", "Pods"]

OWNER: Final = "llm-sandbox/owner"
"""Label with the id of the process that a pod belongs to."""
_NONCE: Final = "llm-sandbox/nonce"
START_BY: Final = "llm-sandbox/start-by"
"""Annotation with the time until which a pod has to run."""
KEPT: Final = "llm-sandbox/detached"
"""Label of pods that belong to no process."""
PROCESS: Final = "llm-sandbox/process"
"""Annotation with the process that has created it; see `backends.inventory.Owner`."""
_PAGE: Final = 200
_EVENTS: Final = 50


class Pods:
    """Pods of one namespace. Safe to use from several threads.

    Args:
        cluster: The cluster.
        namespace: The namespace.
    """

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self.cluster = cluster
        self.namespace = namespace
        self.owner = os.urandom(8).hex()
        """Id of this process, as a label."""
        self._path = f"/api/v1/namespaces/{namespace}/pods"

    def create(
        self,
        manifest: Mapping[str, Any],
        *,
        start_s: float,
        dry_run: bool = False,
        is_kept: bool = False,
    ) -> dict[str, Any]:
        """Create a pod under a new name, and return it. A repeated request creates no second one.

        Args:
            manifest: The manifest, without a name.
            start_s: Seconds within which it has to run; afterwards anybody may remove it.
            dry_run: Whether only to ask if the cluster would admit it.
            is_kept: Whether it outlives this process.

        Raises:
            ApiError: The server refused.
            BackendUnavailableError: The server does not answer.
        """
        nonce = os.urandom(8).hex()
        name = f"llm-sandbox-{nonce}"
        start_by = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=start_s)
        metadata = manifest["metadata"]
        body = {
            **manifest,
            "metadata": {
                **metadata,
                "name": name,
                "namespace": self.namespace,
                "labels": {
                    **metadata["labels"],
                    **MANAGED_BY,
                    **({KEPT: "true"} if is_kept else {OWNER: self.owner}),
                },
                "annotations": {
                    **metadata["annotations"],
                    _NONCE: nonce,
                    START_BY: start_by.isoformat(timespec="seconds"),
                    # Where it is absent, no version of this library takes a process for the owner.
                    **({} if is_kept else {PROCESS: str(current_owner())}),
                },
            },
        }
        try:
            query = {"dryRun": "All"} if dry_run else None
            return self.cluster.request("POST", self._path, body, query=query)
        except ApiError as error:
            if error.status != 409:
                raise
            # An earlier request of this call has arrived after all.
            found = self.find(name)
            if found is None or found["metadata"]["annotations"].get(_NONCE) != nonce:
                raise
            return found

    def find(self, name: str) -> dict[str, Any] | None:
        """Return a pod; None if there is none.

        Raises:
            ApiError: The server refused.
            BackendUnavailableError: The server does not answer.
        """
        try:
            return self.cluster.request("GET", f"{self._path}/{name}", retry_s=5.0)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def events(self, name: str) -> list[dict[str, Any]]:
        """Return the events of a pod; none where the user may not list them."""
        path = f"/api/v1/namespaces/{self.namespace}/events"
        query = {"fieldSelector": f"involvedObject.name={name}", "limit": str(_EVENTS)}
        with contextlib.suppress(SandboxError):
            return list(self.cluster.request("GET", path, query=query, retry_s=1.0)["items"])
        return []

    def log(self, name: str, container: str) -> str:
        """Return the end of a container's log; empty where the user may not read it."""
        path = f"{self._path}/{name}/log"
        query = {"container": container, "tailLines": "20", "limitBytes": "4000"}
        with contextlib.suppress(SandboxError):
            return self.cluster.read(path, query).decode("utf-8", "replace")
        return ""

    def delete(self, name: str, uid: str | None = None) -> None:
        """Delete a pod at once, if it is there.

        Args:
            name: Its name.
            uid: Its uid, so that another pod of the same name is left alone; None for any.

        Raises:
            ApiError: The server refused.
            BackendUnavailableError: The server does not answer.
        """
        body: dict[str, Any] = {"gracePeriodSeconds": 0, "propagationPolicy": "Background"}
        if uid is not None:
            body["preconditions"] = {"uid": uid}
        try:
            self.cluster.request("DELETE", f"{self._path}/{name}", body)
        except ApiError as error:
            if error.status not in (404, 409):
                raise

    def list_ours(self, most: int | None = None) -> list[dict[str, Any]]:
        """Return pods of this library, the oldest names first.

        Args:
            most: Number of pods to return at most; None for all.

        Raises:
            ApiError: The server refused.
            BackendUnavailableError: The server does not answer.
        """
        label = next(f"{name}={value}" for name, value in MANAGED_BY.items())
        query = {"labelSelector": label, "limit": str(most or _PAGE)}
        found: list[dict[str, Any]] = []
        while True:
            page = self.cluster.request("GET", self._path, query=query)
            found += page["items"]
            rest = page["metadata"].get("continue")
            if most is not None or not rest:
                return found
            query["continue"] = rest
