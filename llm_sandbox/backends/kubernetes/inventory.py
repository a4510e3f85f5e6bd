"""Inventory of a namespace: the pods of this library, and the removal of those that nobody owns."""

import contextlib
import datetime
import threading
import time
from collections.abc import Iterable, Mapping
from typing import Any, Final

from llm_sandbox.backends.inventory import Decision, Inventory, Owner, Resource
from llm_sandbox.backends.kubernetes.network_policy import NETWORK
from llm_sandbox.backends.kubernetes.pod_status import is_finished
from llm_sandbox.backends.kubernetes.pods import KEPT, PROCESS, START_BY, Pods
from llm_sandbox.exceptions import BackendError, SandboxError

__all__ = ["PodInventory"]

_NEWLY_FINISHED_S: Final = 30.0
"""Seconds for which a finished pod is left to its own client, who reads how it ended."""
_FINISHED_KEPT_S: Final = 3600.0
"""The same for a detached pod, which has no process: the next one of its user reads it."""
_LATE: Final = datetime.timedelta(minutes=1)
"""Time beyond its own limit that a pod has to start, as clocks differ."""
_AT_ONCE: Final = 50
_GONE_S: Final = 30.0
_PAUSE_S: Final = 0.2
_FINISHED: Final = "llm-sandbox.finished"
_STARTS_BY: Final = "llm-sandbox.starts-by"


class PodInventory(Inventory):
    """See `Inventory`.

    Args:
        pods: Pods of the namespace.
    """

    def __init__(self, pods: Pods) -> None:
        self._pods = pods

    def resources(self) -> list[Resource]:
        return self._resources(None)

    def _resources(self, most: int | None) -> list[Resource]:
        found = [_resource(pod) for pod in self._pods.list_ours(most)]
        return sorted(found, key=lambda one: (-one.age_s(), one.name))

    def measure(self, resources: Iterable[Resource]) -> list[Resource]:
        # What pods use is known to an addition of the cluster, which not all have.
        return list(resources)

    def decide(self, resources: Iterable[Resource], min_age_s: float = 0.0) -> list[Decision]:
        now = datetime.datetime.now(datetime.UTC)
        return [_decide(one, now, min_age_s) for one in resources]

    def collect(self, decisions: Iterable[Decision]) -> list[Decision]:
        return [self._collect(one) if one.remove else one for one in decisions]

    def _collect(self, decision: Decision) -> Decision:
        try:
            self._pods.delete(decision.resource.id)
        except SandboxError as error:
            return Decision(decision.resource, remove=False, why=error.message)
        return decision

    def collect_soon(self) -> None:
        """Remove some of what can be removed, in the background; errors are not reported."""

        def work() -> None:
            with contextlib.suppress(SandboxError):
                self.collect(self.decide(self._resources(_AT_ONCE)))

        threading.Thread(target=work, name="llm-sandbox-gc", daemon=True).start()

    def remove(self, container: str) -> None:
        self._pods.delete(container)
        deadline = time.monotonic() + _GONE_S
        while self._pods.find(container) is not None:
            if time.monotonic() > deadline:
                raise BackendError(
                    f"the pod {container} was deleted, and is not gone after {_GONE_S:g} s",
                    backend="kubernetes",
                    hint=f"look: kubectl get pod -n {self._pods.namespace} {container}",
                )
            time.sleep(_PAUSE_S)


def _resource(pod: Mapping[str, Any]) -> Resource:
    # trust: whoever may create pods can write any label; a wrong one costs only pods of theirs.
    metadata, status = pod["metadata"], pod.get("status") or {}
    annotations = metadata.get("annotations") or {}
    name = str(metadata["name"])
    state = "Terminating" if metadata.get("deletionTimestamp") else status.get("phase") or "Pending"
    finished = _finished_at(pod) if is_finished(pod) else None
    return Resource(
        "kubernetes",
        "sandbox",
        name,
        name,
        state=str(state).lower(),
        image=str(pod["spec"]["containers"][0].get("image") or ""),
        network=(metadata.get("labels") or {}).get(NETWORK),
        owner=Owner.parse(str(annotations.get(PROCESS, ""))),
        started=_moment(metadata.get("creationTimestamp")),
        labels={
            **({} if finished is None else {_FINISHED: finished.isoformat()}),
            **({_STARTS_BY: annotations[START_BY]} if START_BY in annotations else {}),
            **({KEPT: "true"} if KEPT in (metadata.get("labels") or {}) else {}),
        },
    )


def _decide(one: Resource, now: datetime.datetime, min_age_s: float) -> Decision:
    remove, why = _judge(one, now)
    if remove and one.age_s(now) < min_age_s:
        return Decision(one, remove=False, why=f"it is younger than {min_age_s:.0f} s")
    return Decision(one, remove, why)


def _judge(one: Resource, now: datetime.datetime) -> tuple[bool, str]:
    whose = "nobody" if one.owner is None else f"process {one.owner.pid}"
    if one.state == "terminating":
        return False, "it is being deleted"
    if one.owner_state == "dead":
        return True, f"{whose}, which made it, has ended"
    finished = _moment(one.labels.get(_FINISHED))
    is_kept = KEPT in one.labels
    if finished is not None:
        known_for = _FINISHED_KEPT_S if is_kept else _NEWLY_FINISHED_S
        if now - finished > datetime.timedelta(seconds=known_for):
            return True, "it has ended"
        whose_end = "its user" if is_kept else "its process"
        return False, f"it has just ended, and {whose_end} may still read how"
    starts_by = _moment(one.labels.get(_STARTS_BY))
    if one.state == "pending" and starts_by is not None and now > starts_by + _LATE:
        return True, "it did not start in time"
    if is_kept:
        return False, "it is detached, and ends by itself or by its user"
    if one.owner_state == "alive":
        return False, f"{whose} uses it"
    where = f"made on {one.owner.host}" if one.owner is not None else "made elsewhere"
    # A pod ends by itself with the process that created it, on any machine.
    return False, f"{where}, where its process seems to live"


def _finished_at(pod: Mapping[str, Any]) -> datetime.datetime:
    moments = [
        _moment(((one.get("state") or {}).get("terminated") or {}).get("finishedAt"))
        for one in pod["status"].get("containerStatuses") or ()
    ]
    known = [moment for moment in moments if moment is not None]
    return max(known) if known else datetime.datetime.min.replace(tzinfo=datetime.UTC)


def _moment(text: object) -> datetime.datetime | None:
    with contextlib.suppress(ValueError, TypeError):
        found = datetime.datetime.fromisoformat(str(text))
        return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)
    return None
