"""Rights that the backend needs in a namespace: the role that grants them, and their review."""

import contextlib
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from llm_sandbox.backends.kubernetes.cluster import ApiError, Cluster
from llm_sandbox.backends.kubernetes.network_policy import POLICY, find_policy
from llm_sandbox.backends.kubernetes.sandbox_claim import CLAIMS, SANDBOXES
from llm_sandbox.exceptions import BackendUnavailableError, SandboxError

__all__ = ["CLAIMING", "MESSAGES", "NEEDED", "AccessReview", "Right", "find_missing", "role_rules"]

_REVIEWS: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


@dataclass(frozen=True)
class Right:
    """Right to do something with the objects of a kind."""

    verb: str
    resource: str
    """Plural name of the kind, with its subresource: ``pods/exec``."""
    group: str = ""
    """API group; empty for the core."""
    name: str = ""
    """Name of the one object that it is about; empty for all."""

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}{f' {self.name!r}' if self.name else ''}"


_NETWORK: Final = "networking.k8s.io"
_GET_POLICY: Final = Right("get", "networkpolicies", _NETWORK, POLICY)
_CREATE_POLICY: Final = Right("create", "networkpolicies", _NETWORK)
NEEDED: Final = (
    *(Right(verb, "pods") for verb in ("create", "delete", "get", "list")),
    # Servers ask for either verb to execute a program.
    *(Right(verb, "pods/exec") for verb in ("create", "get")),
    _GET_POLICY,
)
"""Rights without which the backend does not work, where the network policy exists."""
MESSAGES: Final = (Right("list", "events"), Right("get", "pods/log"))
"""Rights without which messages about pods that do not start are shorter."""
CLAIMING: Final = (
    *(Right(verb, "sandboxclaims", CLAIMS) for verb in ("create", "delete", "get", "patch")),
    Right("get", "sandboxes", SANDBOXES),
    Right("get", "pods"),
    *(Right(verb, "pods/exec") for verb in ("create", "get")),
)
"""Rights without which the backend does not work with a warm pool of agent-sandbox."""


def role_rules(rights: Iterable[Right] = (*NEEDED, *MESSAGES)) -> list[dict[str, Any]]:
    """Return the rules of a role that has these rights, and no other."""
    rules: dict[tuple[str, str, str], list[str]] = {}
    for one in dict.fromkeys(rights):
        rules.setdefault((one.group, one.resource, one.name), []).append(one.verb)
    return [
        {"apiGroups": [group], "resources": [resource], "verbs": verbs}
        | ({"resourceNames": [name]} if name else {})
        for (group, resource, name), verbs in rules.items()
    ]


def find_missing(cluster: Cluster, namespace: str, rights: Iterable[Right] = NEEDED) -> list[Right]:
    """Return the rights that the user of a cluster lacks in a namespace.

    Raises:
        ApiError: The server refuses to say.
        BackendUnavailableError: The server does not answer.
    """
    missing = [one for one in rights if not _is_allowed(cluster, namespace, one)]
    if _GET_POLICY not in rights:
        return missing
    # Whoever may create the policy need not see it, and whoever sees it need not create it.
    may_see = _GET_POLICY not in missing
    if may_see and find_policy(cluster, namespace) is not None:
        return missing
    missing = [one for one in missing if one != _GET_POLICY]
    return (
        missing if _is_allowed(cluster, namespace, _CREATE_POLICY) else [*missing, _CREATE_POLICY]
    )


def _is_allowed(cluster: Cluster, namespace: str, right: Right) -> bool:
    resource, _, subresource = right.resource.partition("/")
    attributes = {"namespace": namespace, "verb": right.verb, "group": right.group}
    attributes |= {"resource": resource, "subresource": subresource, "name": right.name}
    review = cluster.request(
        "POST",
        _REVIEWS,
        {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        },
    )
    return bool(review["status"].get("allowed"))


class AccessReview:
    """Review of the rights of a user, which is made while the first pod starts.

    Args:
        cluster: The cluster.
        namespace: The namespace.
        rights: The rights that are needed.
    """

    def __init__(self, cluster: Cluster, namespace: str, rights: Iterable[Right] = NEEDED) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._rights = tuple(rights)
        self._missing: list[Right] = []
        self._thread = threading.Thread(target=self._work, name="llm-sandbox-rights", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        # Without an answer what is refused is told one by one, in the server's words.
        with contextlib.suppress(SandboxError):
            self._missing = find_missing(self._cluster, self._namespace, self._rights)

    def require(self, refusal: ApiError | None = None) -> None:
        """Wait for the review, and raise what it has found.

        Args:
            refusal: What the server has refused by now; None for nothing.

        Raises:
            BackendUnavailableError: Rights are missing; the message lists them all.
        """
        self._thread.join()
        if not self._missing:
            return
        raise BackendUnavailableError(
            f"in the namespace {self._namespace!r} of the cluster at {self._cluster.address} "
            f"these rights are missing: {', '.join(map(str, self._missing))}",
            backend="kubernetes",
            hint="somebody who may grant them types: llm-sandbox kubernetes manifests "
            f"--namespace {self._namespace} | kubectl apply -f -; "
            f"look: kubectl auth can-i --list -n {self._namespace}",
        ) from refusal
