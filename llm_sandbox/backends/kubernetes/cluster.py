"""Requests to the API server of a cluster."""

import base64
import contextlib
import json
import os
import random
import re
import ssl
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from llm_sandbox.exceptions import (
    BackendError,
    BackendUnavailableError,
    MissingDependencyError,
    SandboxError,
    UnsupportedError,
    ValidationError,
)

__all__ = ["ApiError", "Cluster"]

_TIMEOUT_S = 30.0
_RETRY_FOR_S = 30.0
_RETRIED = frozenset({429, 500, 502, 503, 504})
_CONNECTIONS = 64
_START = "name a cluster: KUBECONFIG=~/.kube/config, or context=; look: kubectl config get-contexts"
_BACKEND = "kubernetes"
_OWN_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


class ApiError(BackendError):
    """Refusal of the API server, in its own words.

    Args:
        op: What was asked for.
        status: Status code of the answer.
        words: The server's words.
        hint: What to type next; None for none.
    """

    def __init__(self, op: str, status: int, words: str, hint: str | None = None) -> None:
        super().__init__(
            f"the cluster refused {op}: {words}",
            op=op,
            backend=_BACKEND,
            retryable=status in _RETRIED or "exceeded quota" in words,
            hint=hint,
        )
        self.status = status
        self.words = words


class Cluster:
    """API server, with the credentials of a user; safe to use from several threads.

    Args:
        client: A `kubernetes.client.CoreV1Api`, whose configuration is used; None reads the
            user's kubeconfig, or the service account of the pod that this process runs in.
        context: Name of a context of the kubeconfig; None for the current one.
        kubeconfig: Path of the kubeconfig; None for the usual one.

    Raises:
        MissingDependencyError: The client of Kubernetes is not installed.
        BackendUnavailableError: There is no configuration, or it cannot be used.
        UnsupportedError: The configuration has a proxy.
    """

    def __init__(
        self,
        client: object = None,
        *,
        context: str | None = None,
        kubeconfig: str | None = None,
    ) -> None:
        configuration, self.namespace = _configuration(client, context, kubeconfig)
        self._configuration = configuration
        self._login = threading.Lock()
        self.address = str(configuration.host).rstrip("/")
        """URL of the API server."""
        if configuration.proxy:
            raise UnsupportedError(
                "a proxy in the kubeconfig", _BACKEND, "streams are not carried through proxies"
            )
        self.tls = _tls(configuration) if self.address.startswith("https") else None
        """Settings of TLS; None for a server without it, such as that of `kubectl proxy`."""
        self.server_name = configuration.tls_server_name or urlsplit(self.address).hostname
        """Name that the server's certificate has."""
        self._pool = _pool(self)
        self._version: tuple[int, int] | None = None

    def core_api(self) -> Any:
        """Return a `kubernetes.client.CoreV1Api` with the same configuration."""
        import kubernetes.client

        return kubernetes.client.CoreV1Api(kubernetes.client.ApiClient(self._configuration))

    @property
    def version(self) -> tuple[int, int]:
        """Version of the server, such as ``(1, 35)``.

        Raises:
            BackendUnavailableError: The server does not answer.
        """
        if self._version is None:
            found = self.request("GET", "/version")
            minor = "".join(filter(str.isdigit, str(found["minor"])))
            self._version = int(found["major"]), int(minor)
        return self._version

    def headers(self) -> dict[str, str]:
        """Return the headers with the user's credentials, renewed if they have to be."""
        with self._login:  # a plugin that asks for a token is asked once
            settings = self._configuration.auth_settings()
        found = {one["key"]: one["value"] for one in settings.values() if one["value"]}
        if self._configuration.username:
            words = f"{self._configuration.username}:{self._configuration.password}"
            found["authorization"] = f"Basic {base64.b64encode(words.encode()).decode()}"
        return found

    def request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        query: Mapping[str, str] | None = None,
        retry_s: float = _RETRY_FOR_S,
    ) -> dict[str, Any]:
        """Make a request that may be made again, and return the object in the answer.

        Args:
            method: Method of HTTP.
            path: Path of the resource.
            body: The object that is sent; None for none.
            query: Parameters.
            retry_s: Seconds for which it is made again while the server is busy or not there.

        Raises:
            ApiError: The server refused.
            BackendUnavailableError: The server does not answer.
        """
        answer = self._request(method, path, body, query, retry_s)
        found: dict[str, Any] = json.loads(answer)
        return found

    def read(self, path: str, query: Mapping[str, str]) -> bytes:
        """Return what the server has at a path, once.

        Raises:
            ApiError: The server refused.
            BackendUnavailableError: The server does not answer.
        """
        return self._request("GET", path, None, query, 0.0)

    def _request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        query: Mapping[str, str] | None,
        retry_s: float,
    ) -> bytes:
        import urllib3.exceptions

        url = self.address + path + (f"?{urlencode(query)}" if query else "")
        content = None if body is None else json.dumps(body).encode()
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        deadline = time.monotonic() + retry_s
        pause = 0.1
        while True:
            failure: SandboxError
            wait: float | None = None
            try:
                answer = self._pool.request(
                    method,
                    url,
                    body=content,
                    headers={"content-type": kind, "accept": "application/json", **self.headers()},
                    timeout=_TIMEOUT_S,
                    retries=False,
                    redirect=False,
                )
            except urllib3.exceptions.HTTPError as error:
                failure = self._unavailable(error)
            else:
                if answer.status < 400:
                    return bytes(answer.data)
                failure = self.refusal(f"{method} {path}", answer.status, answer.data)
                if answer.status not in _RETRIED:
                    raise failure
                wait = _seconds(answer.headers.get("retry-after"))
            pause = min(3.0, pause * 2)
            delay = pause * (0.5 + random.random() / 2) if wait is None else wait  # noqa: S311
            if time.monotonic() + delay > deadline:
                raise failure
            time.sleep(delay)

    def refusal(self, op: str, status: int, body: bytes) -> SandboxError:
        """Return the error for an answer.

        Args:
            op: What was asked for.
            status: Status code.
            body: Body of the answer: a ``Status`` object, or text.
        """
        words = body[:2000].decode("utf-8", "replace").strip()
        with contextlib.suppress(ValueError, KeyError, TypeError):
            words = str(json.loads(body)["message"])
        if status == 401:
            return BackendUnavailableError(
                f"the cluster at {self.address} does not accept the credentials: {words}",
                backend=_BACKEND,
                hint="log in again, then look: kubectl auth whoami",
            )
        return ApiError(op, status, words, _remedy(status, words))

    def _unavailable(self, error: BaseException) -> BackendUnavailableError:
        # Urllib3 shows its objects before the reason.
        reason = str(getattr(error, "reason", None) or error).rpartition(">: ")[2]
        return BackendUnavailableError(
            f"the cluster at {self.address} does not answer: {reason}",
            backend=_BACKEND,
            hint="look: kubectl cluster-info",
        )


def _configuration(client: object, context: str | None, kubeconfig: str | None) -> tuple[Any, str]:
    """Return the configuration of the client, and the namespace of its user."""
    try:
        import kubernetes.client
        import kubernetes.config
        import websockets.client  # noqa: F401

        loader: Any = kubernetes.config  # it is not typed
    except ImportError:
        raise MissingDependencyError(
            "the kubernetes backend needs the kubernetes client and websockets",
            extra="kubernetes",
        ) from None
    if client is not None:
        found = getattr(getattr(client, "api_client", None), "configuration", None)
        if found is None:
            raise ValidationError(
                f"client is a kubernetes.client.CoreV1Api, not {type(client).__name__}",
                parameter="client",
                hint="kubernetes.config.load_kube_config(); kubernetes.client.CoreV1Api()",
            )
        return found, "default"
    configuration = kubernetes.client.Configuration()
    # The client reads the variable when it is imported, and never again.
    kubeconfig = kubeconfig or os.environ.get("KUBECONFIG") or None
    given = {"config_file": kubeconfig, "context": context}
    try:
        try:
            loader.load_kube_config(client_configuration=configuration, **given)
        except loader.ConfigException:
            if context is not None or kubeconfig is not None:
                raise
            if not _OWN_NAMESPACE.exists():
                raise loader.ConfigException(
                    "no kubeconfig, and this program is in no pod"
                ) from None
            loader.load_incluster_config(client_configuration=configuration)
            return configuration, _OWN_NAMESPACE.read_text().strip()
        contexts, active = loader.list_kube_config_contexts(kubeconfig)
        chosen = next((one for one in contexts if one["name"] == context), active)
        return configuration, str(chosen["context"].get("namespace") or "default")
    except (loader.ConfigException, OSError, ValueError, TypeError) as error:
        raise BackendUnavailableError(
            f"no cluster: {error}", backend=_BACKEND, hint=_START
        ) from None


def _tls(configuration: Any) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(
            cafile=configuration.ssl_ca_cert, cadata=getattr(configuration, "ca_cert_data", None)
        )
        if configuration.cert_file:
            context.load_cert_chain(configuration.cert_file, configuration.key_file)
    except (OSError, ValueError) as error:
        raise BackendUnavailableError(
            f"the certificates of the kubeconfig cannot be read: {error}",
            backend=_BACKEND,
            hint=_START,
        ) from None
    if configuration.verify_ssl is False:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _pool(cluster: Cluster) -> Any:
    import urllib3

    options: dict[str, Any] = {}
    if cluster.tls is not None:
        options = {"ssl_context": cluster.tls, "server_hostname": cluster.server_name}
        if cluster.tls.check_hostname:
            options["assert_hostname"] = cluster.server_name
    return urllib3.PoolManager(maxsize=_CONNECTIONS, **options)


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.isdecimal() else None


def _remedy(status: int, words: str) -> str | None:
    if "exceeded quota" in words:
        return "wait for others to end, or raise it; look: kubectl describe quota"
    if "violates PodSecurity" in words:
        return "the namespace admits other pods; look: kubectl get namespace --show-labels"
    missing = re.search(r'namespaces "([a-z0-9-]+)" not found', words)
    if missing is not None:
        return f"make it: kubectl create namespace {missing[1]}; or another: kube_namespace="
    if "RuntimeClass" in words:
        return "look: kubectl get runtimeclasses"
    if status == 403:
        return "what is missing: llm-sandbox kubernetes check"
    return None
