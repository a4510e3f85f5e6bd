"""Status of a pod: the reason that it does not start, and the way it ended."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from llm_sandbox.backends.connection import SupervisorEnd
from llm_sandbox.exceptions import BackendError, ImageNotFoundError, ImagePullError, SandboxError

__all__ = ["describe_events", "find_end", "find_start_error", "is_finished", "look_at", "progress"]

_NAME: Final = "kubernetes"
_PULLS: Final = frozenset(
    {"ErrImagePull", "ImagePullBackOff", "RegistryUnavailable", "ImageInspectError"}
)
_HOPELESS_PULL: Final = re.compile(
    r"not found|denied|unauthorized|manifest unknown|no match for platform|invalid reference"
    r"|no such host|no basic auth|failed to resolve",
    re.IGNORECASE,
)
_BROKEN: Final[Mapping[str, str]] = {
    "CreateContainerConfigError": "a Secret or ConfigMap that the pod names may be missing",
    "CreateContainerError": "the node cannot make the container; a seccomp profile may be missing",
    "RunContainerError": "the image may lack this library's runtime; see docs/kubernetes.md",
    "StartError": "the image may lack this library's runtime; see docs/kubernetes.md",
    "CrashLoopBackOff": "it ends again and again",
}
"""Reasons for which a container never starts, and what to look at."""
_OOM: Final = "OOMKilled"


def _containers(pod: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    status = pod.get("status") or {}
    for name in ("initContainerStatuses", "containerStatuses"):
        yield from status.get(name) or ()


def look_at(name: str, namespace: str) -> str:
    """Return a hint with the command that shows why a pod did not start; it is deleted by then."""
    return f"look: kubectl get events -n {namespace} --field-selector involvedObject.name={name}"


def _look(pod: Mapping[str, Any]) -> str:
    metadata = pod["metadata"]
    return look_at(metadata["name"], metadata["namespace"])


def is_finished(pod: Mapping[str, Any]) -> bool:
    """Return whether a pod has ended."""
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def progress(pod: Mapping[str, Any]) -> str:
    """Return what a pod that does not run yet waits for, in the cluster's words."""
    status = pod.get("status") or {}
    for container in _containers(pod):
        waiting = (container.get("state") or {}).get("waiting")
        if waiting:
            return f"{waiting.get('reason')}: {waiting.get('message') or 'no message'}"
    for condition in status.get("conditions") or ():
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            return f"{condition.get('reason')}: {condition.get('message')}"
    return str(status.get("phase") or "it has no status")


def find_start_error(pod: Mapping[str, Any], *, is_listening: bool = False) -> SandboxError | None:
    """Return why a pod will never start, in the cluster's words; None while it may.

    Args:
        pod: The pod.
        is_listening: Whether it was seen to run, so that its end is not a failure to start.
    """
    status = pod.get("status") or {}
    for container in _containers(pod):
        state = container.get("state") or {}
        waiting = state.get("waiting") or {}
        reason, words = str(waiting.get("reason") or ""), str(waiting.get("message") or "")
        image = str(container.get("image") or "")
        if reason in ("InvalidImageName", "ErrImageNeverPull"):
            return ImageNotFoundError(image, backend=_NAME, hint=f"{words}; {_look(pod)}")
        if reason in _PULLS:
            if reason != "ErrImagePull" or _HOPELESS_PULL.search(words):
                secrets = [one["name"] for one in pod["spec"].get("imagePullSecrets") or ()]
                used = f"imagePullSecrets: {', '.join(secrets) or 'none'}"
                return ImagePullError(
                    image, f"{reason}: {words} ({used})", backend=_NAME, hint=_look(pod)
                )
        elif reason in _BROKEN:
            return _failure(pod, f"{reason}: {words}", _BROKEN[reason])
        ended = state.get("terminated")
        if ended and not is_listening and (ended.get("exitCode") or ended.get("signal")):
            words = f"{ended.get('reason')}: {ended.get('message') or ''}".rstrip(": ")
            code = ended.get("exitCode")
            return _failure(
                pod, f"its container {container['name']} ended with {code} ({words})", None
            )
    if status.get("phase") == "Failed":
        words = f"{status.get('reason')}: {status.get('message') or ''}".rstrip(": ")
        return _failure(pod, words, None, retryable=True)
    return None


def _failure(
    pod: Mapping[str, Any], words: str, remedy: str | None, *, retryable: bool = False
) -> BackendError:
    name = pod["metadata"]["name"]
    return BackendError(
        f"the pod {name} cannot start: {words}",
        backend=_NAME,
        retryable=retryable,
        hint=f"{remedy}; {_look(pod)}" if remedy else _look(pod),
    )


def describe_events(events: Sequence[Mapping[str, Any]]) -> str:
    """Return the warnings among the events of a pod, the last three of them."""
    found = [f"{e.get('reason')}: {e.get('message')}" for e in events if e.get("type") == "Warning"]
    return "; ".join(dict.fromkeys(found[-3:]))


def find_end(pod: Mapping[str, Any] | None, container: str) -> SupervisorEnd | None:
    """Return how the machine of a pod ended; None while it runs.

    Args:
        pod: The pod; None if it is gone.
        container: Name of the machine's container.
    """
    if pod is None:
        return SupervisorEnd("somebody has deleted its pod")
    status = pod.get("status") or {}
    for one in status.get("containerStatuses") or ():
        ended = (one.get("state") or {}).get("terminated")
        if one.get("name") == container and ended:
            reason = str(ended.get("reason") or "")
            words = f"its container ended with {ended.get('exitCode')} ({reason})"
            return SupervisorEnd(_with_pod(status, words), oom_killed=reason == _OOM)
    if is_finished(pod) or pod["metadata"].get("deletionTimestamp"):
        return SupervisorEnd(_with_pod(status, f"its pod has ended ({status.get('phase')})"))
    return None


def _with_pod(status: Mapping[str, Any], words: str) -> str:
    """Add the pod's own reason, such as ``Evicted`` with the kubelet's words."""
    reasons = [str(status[name]) for name in ("reason", "message") if status.get(name)]
    reasons += [
        f"{one.get('reason')}: {one.get('message')}"
        for one in status.get("conditions") or ()
        if one.get("type") == "DisruptionTarget"
    ]
    return f"{words}; {': '.join(reasons)}" if reasons else words
