"""Check of a namespace: what the backend finds there, and what to type for what is missing."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from llm_sandbox.backends.base import MachineSpec
from llm_sandbox.backends.kubernetes.backend import KubernetesBackend
from llm_sandbox.backends.kubernetes.cluster import ApiError
from llm_sandbox.backends.kubernetes.rights import MESSAGES, find_missing
from llm_sandbox.exceptions import SandboxError, UnsupportedError

__all__ = ["Finding", "check_namespace"]

_ENFORCE: Final = "pod-security.kubernetes.io/enforce"


@dataclass(frozen=True)
class Finding:
    """Outcome of one step of the check."""

    what: str
    """Name of the step, such as ``rights``."""
    state: Literal["yes", "no", "unknown"]
    """Answer to whether it is as the backend needs it; ``unknown`` where that cannot be told."""
    text: str
    """Finding, in words."""
    hint: str | None = None
    """Command to type next; None for nothing."""


def check_namespace(backend: KubernetesBackend) -> Iterator[Finding]:
    """Yield what is found, one step after the other; those that need a failed one are left out.

    Two pods are created, and deleted again; with a warm pool, one of its pods is claimed.

    Args:
        backend: Backend with the namespace, the image and the options of pods.
    """
    try:
        yield Finding("cluster", "yes", backend.describe_engine() or "")
    except SandboxError as error:
        yield _failure("cluster", error)
        return
    try:
        yield _check_rights(backend)
    except SandboxError as error:
        yield _failure("rights", error)
        return
    if backend.options.pod.warm_pool is not None:
        yield _check_warm_pool(backend)
        return
    admission = _check_admission(backend)
    yield admission
    yield _check_profile(backend)
    yield _check_runtime_classes(backend)
    if admission.state == "yes":
        yield from _check_pod(backend)


def _failure(what: str, error: SandboxError) -> Finding:
    return Finding(what, "no", error.message, error.hint)


def _check_rights(backend: KubernetesBackend) -> Finding:
    pods = backend.pods
    backend.review_rights().require()
    missing = find_missing(pods.cluster, pods.namespace, MESSAGES)
    if not missing:
        return Finding("rights", "yes", f"all that are needed in {pods.namespace}")
    words = ", ".join(map(str, missing))
    text = f"all that are needed in {pods.namespace}; without {words} messages are shorter"
    return Finding("rights", "yes", text)


def _check_admission(backend: KubernetesBackend) -> Finding:
    pod = backend.options.pod
    try:
        backend.try_admission()
    except ApiError as error:
        hint = error.hint
        if "violates PodSecurity" in error.words and pod.profile == "baseline":
            hint = "leave out --profile baseline, or let the namespace admit it: kubectl label "
            hint += f"--overwrite namespace {backend.pods.namespace} {_ENFORCE}=baseline"
        return Finding("admission", "no", error.words, hint)
    except SandboxError as error:
        return _failure("admission", error)
    with_class = "" if pod.runtime_class is None else f", runtime class {pod.runtime_class}"
    return Finding("admission", "yes", f"pods with the profile {pod.profile}{with_class}")


def _check_warm_pool(backend: KubernetesBackend) -> Finding:
    """Claim a pod."""
    started = time.monotonic()
    try:
        machine = backend.create(MachineSpec())
    except SandboxError as error:
        return _failure("warm pool", error)
    took = time.monotonic() - started
    machine.destroy()
    name = backend.options.pod.warm_pool
    return Finding("warm pool", "yes", f"{name} gave a pod, which was ready after {took:.1f} s")


def _check_profile(backend: KubernetesBackend) -> Finding:
    namespace = backend.pods.namespace
    try:
        found = backend.pods.cluster.request("GET", f"/api/v1/namespaces/{namespace}")
    except SandboxError as error:
        words = error.words if isinstance(error, ApiError) else error.message
        return Finding("profile", "unknown", f"which one is enforced may not be read: {words}")
    enforced = (found["metadata"].get("labels") or {}).get(_ENFORCE)
    if enforced is not None:
        return Finding("profile", "yes", f"the namespace asks for {enforced}")
    return Finding(
        "profile",
        "unknown",
        f"{namespace} asks for none; sandboxes keep to theirs, and pods of others need not",
        f"kubectl label namespace {namespace} {_ENFORCE}={backend.options.pod.profile}",
    )


def _check_runtime_classes(backend: KubernetesBackend) -> Finding:
    try:
        found = backend.pods.cluster.request("GET", "/apis/node.k8s.io/v1/runtimeclasses")
    except SandboxError as error:
        words = error.words if isinstance(error, ApiError) else error.message
        return Finding("runtimes", "unknown", f"the classes may not be listed: {words}")
    names = sorted(one["metadata"]["name"] for one in found["items"])
    return Finding(
        "runtimes", "yes", f"classes: {', '.join(names)}" if names else "the cluster's own alone"
    )


def _check_pod(backend: KubernetesBackend) -> Iterator[Finding]:
    """Start a pod from the image, and prove that it is cut off."""
    backend.network_policy.forget()
    image = backend.image
    started = time.monotonic()
    try:
        machine = backend.create(MachineSpec())
    except UnsupportedError as error:
        # Both pods have run by then.
        yield Finding("image", "yes", f"{image} was pulled, and runs")
        yield _failure("network", error)
        return
    except SandboxError as error:
        yield _failure("image", error)
        return
    took = time.monotonic() - started
    control = machine.isolation.controls["network"]
    machine.destroy()
    yield Finding("image", "yes", f"{image} was pulled, and runs; two pods took {took:.1f} s")
    if control.state == "enforced":
        yield Finding("network", "yes", control.by)
    else:
        yield Finding("network", "unknown", control.by)
