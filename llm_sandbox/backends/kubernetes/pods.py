"""Pods of one namespace: creation, look-up and removal."""

import contextlib
import datetime
import os
import threading
from collections.abc import Mapping
from typing import Any, Final

from llm_sandbox.backends.kubernetes.cluster import ApiError, Cluster
from llm_sandbox.backends.kubernetes.manifest import MANAGED_BY
from llm_sandbox.backends.kubernetes.pod_status import is_finished
from llm_sandbox.exceptions import SandboxError

__all__ = ["OWNER", "Pods"]

OWNER: Final = "llm-sandbox/owner"
"""Label with the id of the process that a pod belongs to."""
_NONCE: Final = "llm-sandbox/nonce"
_START_BY: Final = "llm-sandbox/start-by"
_NEWLY_FINISHED_S: Final = 30.0
_AT_ONCE: Final = 50


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

    def create(self, manifest: Mapping[str, Any], *, start_s: float) -> dict[str, Any]:
        """Create a pod under a new name, and return it. A repeated request creates no second one.

        Args:
            manifest: The manifest, without a name.
            start_s: Seconds within which it has to run; afterwards anybody may remove it.

        Raises:
            ApiError: The server refused.
            BackendUnavailableError: The server does not answer.
        """
        nonce = os.urandom(8).hex()
        name = f"llm-sandbox-{nonce}"
        start_by = _now() + datetime.timedelta(seconds=start_s)
        metadata = manifest["metadata"]
        body = {
            **manifest,
            "metadata": {
                **metadata,
                "name": name,
                "namespace": self.namespace,
                "labels": {**metadata["labels"], **MANAGED_BY, OWNER: self.owner},
                "annotations": {
                    **metadata["annotations"],
                    _NONCE: nonce,
                    _START_BY: start_by.isoformat(timespec="seconds"),
                },
            },
        }
        try:
            return self.cluster.request("POST", self._path, body)
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
        query = {"fieldSelector": f"involvedObject.name={name}", "limit": str(_AT_ONCE)}
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

    def list_ours(self) -> list[dict[str, Any]]:
        """Return pods of this library, at most fifty.

        Raises:
            ApiError: The server refused.
            BackendUnavailableError: The server does not answer.
        """
        label = next(f"{name}={value}" for name, value in MANAGED_BY.items())
        query = {"labelSelector": label, "limit": str(_AT_ONCE)}
        return list(self.cluster.request("GET", self._path, query=query)["items"])

    def collect(self, finished_s: float = _NEWLY_FINISHED_S) -> list[str]:
        """Remove what other clients left: finished pods, and those that never started.

        Args:
            finished_s: Seconds for which a finished pod is left to its own client, who reads how it
                ended.

        Returns:
            The names of the removed pods.

        Raises:
            ApiError: The server refused.
            BackendUnavailableError: The server does not answer.
        """
        removed = []
        for pod in self.list_ours():
            metadata = pod["metadata"]
            if metadata["labels"].get(OWNER) != self.owner and _is_left(pod, finished_s):
                self.delete(metadata["name"], metadata["uid"])
                removed.append(str(metadata["name"]))
        return removed

    def collect_soon(self) -> None:
        """Do `collect` in the background; errors are not reported."""

        def work() -> None:
            with contextlib.suppress(SandboxError):
                self.collect()

        threading.Thread(target=work, name="llm-sandbox-gc", daemon=True).start()


def _is_left(pod: Mapping[str, Any], finished_s: float) -> bool:
    if is_finished(pod):
        return _now() - _finished_at(pod) > datetime.timedelta(seconds=finished_s)
    if pod["status"].get("phase") != "Pending":
        return False
    # A clock that differs leaves a pod longer; one that starts still has its own limit.
    start_by = _moment(pod["metadata"].get("annotations", {}).get(_START_BY))
    return start_by is not None and _now() > start_by + datetime.timedelta(minutes=1)


def _finished_at(pod: Mapping[str, Any]) -> datetime.datetime:
    moments = [
        _moment(((one.get("state") or {}).get("terminated") or {}).get("finishedAt"))
        for one in pod["status"].get("containerStatuses") or ()
    ]
    known = [moment for moment in moments if moment is not None]
    return max(known) if known else datetime.datetime.min.replace(tzinfo=datetime.UTC)


def _moment(text: str | None) -> datetime.datetime | None:
    with contextlib.suppress(ValueError, TypeError):
        found = datetime.datetime.fromisoformat(str(text))
        return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)
    return None


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
