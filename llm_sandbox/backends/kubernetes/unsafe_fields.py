"""Fields of a pod manifest that weaken its isolation."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from llm_sandbox.exceptions import SecurityError

__all__ = ["UNSAFE_FIELDS", "reject_unsafe_fields"]

_Check = Callable[[Mapping[str, Any]], bool]

_POD: Final[Mapping[str, _Check]] = {
    "hostIPC": lambda spec: bool(spec.get("hostIPC")),
    "hostNetwork": lambda spec: bool(spec.get("hostNetwork")),
    "hostPID": lambda spec: bool(spec.get("hostPID")),
    "shareProcessNamespace": lambda spec: bool(spec.get("shareProcessNamespace")),
    "serviceAccount": lambda spec: bool(
        spec.get("serviceAccountName")
        or spec.get("serviceAccount")
        or spec.get("automountServiceAccountToken")
    ),
    "hostPath": lambda spec: any("hostPath" in volume for volume in _list(spec, "volumes")),
    "projected": lambda spec: any(
        "serviceAccountToken" in source
        for volume in _list(spec, "volumes")
        for source in _list(volume.get("projected") or {}, "sources")
    ),
    "sysctls": lambda spec: bool(_security(spec).get("sysctls")),
    "hostUsers": lambda spec: spec.get("hostUsers") is True,
    "ephemeralContainers": lambda spec: bool(spec.get("ephemeralContainers")),
}
"""Names of unsafe fields of a pod, and whether a specification has one."""

_CONTAINER: Final[Mapping[str, _Check]] = {
    "privileged": lambda one: bool(_security(one).get("privileged")),
    "allowPrivilegeEscalation": lambda one: bool(_security(one).get("allowPrivilegeEscalation")),
    "capabilities": lambda one: bool((_security(one).get("capabilities") or {}).get("add")),
    "procMount": lambda one: _security(one).get("procMount") not in (None, "Default"),
    "hostPort": lambda one: any(port.get("hostPort") for port in _list(one, "ports")),
    "volumeDevices": lambda one: bool(one.get("volumeDevices")),
}
"""The same of a container."""

_BOTH: Final[Mapping[str, _Check]] = {
    "runAsUser": lambda one: (
        _security(one).get("runAsUser") == 0 or _security(one).get("runAsNonRoot") is False
    ),
    "seccompProfile": lambda one: (
        (_security(one).get("seccompProfile") or {}).get("type") == "Unconfined"
    ),
    "appArmorProfile": lambda one: (
        (_security(one).get("appArmorProfile") or {}).get("type") == "Unconfined"
    ),
    "seLinuxOptions": lambda one: bool(_security(one).get("seLinuxOptions")),
    "windowsOptions": lambda one: bool(_security(one).get("windowsOptions")),
}
"""The same of either."""

UNSAFE_FIELDS: Final = tuple(sorted((set(_POD)) | set(_CONTAINER) | set(_BOTH)))
"""Names that `allow_unsafe` may have."""


def _security(one: Mapping[str, Any]) -> Mapping[str, Any]:
    return one.get("securityContext") or {}


def _list(one: Mapping[str, Any], name: str) -> Sequence[Mapping[str, Any]]:
    return one.get(name) or ()


def _found(manifest: Mapping[str, Any]) -> Iterator[str]:
    spec = manifest.get("spec") or {}
    containers = [*_list(spec, "containers"), *_list(spec, "initContainers")]
    for name, check in _POD.items():
        if check(spec):
            yield name
    for name, check in _CONTAINER.items():
        if any(check(container) for container in containers):
            yield name
    for name, check in _BOTH.items():
        if any(check(part) for part in (spec, *containers)):
            yield name
    annotations = (manifest.get("metadata") or {}).get("annotations") or {}
    if any(
        "apparmor" in str(name) and value == "unconfined" for name, value in annotations.items()
    ):
        yield "appArmorProfile"


def reject_unsafe_fields(manifest: Mapping[str, Any], allowed: Iterable[str]) -> tuple[str, ...]:
    """Return the names of unsafe fields that a manifest has, all of them allowed.

    Args:
        manifest: The caller's part of a pod.
        allowed: Names that are allowed.

    Raises:
        SecurityError: It has another one.
    """
    found = tuple(sorted(set(_found(manifest))))
    for name in found:
        if name not in set(allowed):
            raise SecurityError(
                f"pod_manifest has {name}, which weakens the isolation of the sandbox",
                hint=f"leave it out; or, if you must: allow_unsafe=[{name!r}]",
            )
    return found
