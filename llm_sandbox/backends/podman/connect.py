"""Connection to a Podman service, which is found or started."""

import contextlib
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from llm_sandbox.backends.containers.engine import knock, make_client
from llm_sandbox.backends.podman.engine import START_HINT, PodmanEngine, ping
from llm_sandbox.backends.podman.probe_cache import file_identity
from llm_sandbox.backends.podman.service import Service, find_podman, open_tunnel, start_service
from llm_sandbox.exceptions import (
    BackendUnavailableError,
    MissingDependencyError,
    ValidationError,
)

if TYPE_CHECKING:
    from docker import DockerClient

__all__ = ["address_of", "connect_podman", "usual_sockets"]

_OLDEST = "1.40"
"""Version of Docker's API that every Podman in use has."""

_SOCKET = "podman/podman.sock"


def connect_podman(client: object = None) -> PodmanEngine:
    """Connect to the engine.

    Args:
        client: A `podman.PodmanClient`, whose address is used, or a `docker.DockerClient` that is
            connected to Podman. None takes the service at ``CONTAINER_HOST`` (with the key
            ``CONTAINER_SSHKEY``); else the first of `usual_sockets` that answers; else starts a
            service of its own, which ends with this process.

    Raises:
        MissingDependencyError: docker-py is not installed.
        BackendUnavailableError: Nothing answers, and Podman is not installed or does not work here.
        ValidationError: `client` is of another type, or its address of an unknown kind.
    """
    try:
        import docker
    except ImportError:
        raise MissingDependencyError("the podman backend needs docker-py", extra="podman") from None
    if client is None:
        return _from_environment(os.environ)
    if isinstance(client, docker.DockerClient):
        engine = PodmanEngine(client)
        engine.check()
        return engine
    engine = _connect(*address_of(client))
    engine.check()
    return engine


def usual_sockets(environment: Mapping[str, str], user: int) -> Iterator[Path]:
    """Yield the usual sockets of services, the user's before the system's.

    Args:
        environment: Environment variables.
        user: User id.
    """
    folders = [environment.get("XDG_RUNTIME_DIR", ""), f"/run/user/{user}"] if user else []
    for folder in dict.fromkeys((*folders, "/run")):
        if os.path.isabs(folder):
            yield Path(folder, _SOCKET)


def _from_environment(environment: Mapping[str, str]) -> PodmanEngine:
    named = environment.get("CONTAINER_HOST")
    if named:
        engine = _connect(named, environment.get("CONTAINER_SSHKEY") or None)
        engine.check()
        return engine
    for path in usual_sockets(environment, os.geteuid()):
        if os.access(path, os.R_OK | os.W_OK):
            engine = _connect(f"unix://{path}")
            try:
                engine.check()
            except BackendUnavailableError:
                # The socket of a service that has ended.
                continue
            return engine
    podman = find_podman()
    if podman is None:
        raise BackendUnavailableError(
            "no Podman service listens, and podman is not installed",
            backend="podman",
            hint=START_HINT,
        )
    service = _own_service(podman)
    engine = PodmanEngine(
        _client(service.address),
        local=True,
        file_identity=service.identity,
        process=service.process,
    )
    engine.check()
    return engine


_lock = threading.Lock()
_services: dict[str, Service] = {}


def _own_service(podman: str) -> Service:
    """Return the service of this process for a program; it is started on first use."""
    with _lock:
        service = _services.get(podman)
        if service is None or not service.process.is_running:
            service = _services[podman] = start_service(podman)
        return service


def _renew() -> None:
    global _lock
    _lock = threading.Lock()
    _services.clear()


# A forked child leaves the services to its parent, where another thread may hold the lock.
os.register_at_fork(after_in_child=_renew)


def address_of(client: object) -> tuple[str, str | None]:
    """Return the address of a client of podman-py, and the file of its key.

    Raises:
        ValidationError: It is of another type.
    """
    # The caller has imported podman if it has one of its clients.
    podman = sys.modules.get("podman")
    if podman is None or not isinstance(client, podman.PodmanClient):
        raise ValidationError(
            f"client is a podman.PodmanClient or a docker.DockerClient, not {_name(client)}",
            parameter="client",
            backend="podman",
            hint="podman.from_env() makes one",
        )
    api: Any = client.api
    url = api.base_url
    if url.scheme == "http+ssh":
        # The only place that has it.
        key = getattr(api.adapters.get("http://"), "_pool_kwargs", {}).get("identity")
        return f"ssh://{url.netloc}{url.path}", key and str(key)
    if url.scheme == "http+unix":
        return f"unix://{unquote(url.netloc)}", None
    return f"tcp://{url.netloc}", None


def _connect(address: str, key: str | None = None) -> PodmanEngine:
    # podman-py and Podman's own documentation write `http+unix` and `unix` alike.
    url = urlsplit(address.removeprefix("http+"))
    if url.scheme == "ssh":
        tunnel, address = open_tunnel(url, key)
        try:
            return PodmanEngine(_client(address), process=tunnel, owned=True)
        except BaseException:
            tunnel.close()
            raise
    if url.scheme == "unix":
        path = unquote(url.netloc + url.path)
        return PodmanEngine(
            _client(f"unix://{path}"), local=True, file_identity=file_identity(path)
        )
    if url.scheme in ("tcp", "http", "https") and url.netloc:
        return PodmanEngine(_client(f"tcp://{url.netloc}"))
    raise ValidationError(
        "the address of a Podman service begins with unix://, ssh:// or tcp://",
        parameter="CONTAINER_HOST",
        backend="podman",
    )


def _client(address: str) -> "DockerClient":
    import docker
    import requests
    from docker.errors import DockerException

    try:
        knock(address)
        with contextlib.closing(docker.DockerClient(base_url=address, version=_OLDEST)) as asked:
            newest = ping(asked).get("Api-Version", _OLDEST)
        return make_client(address, version=newest)
    except (DockerException, requests.RequestException, OSError) as error:
        raise BackendUnavailableError(
            f"the podman engine at {address} does not answer: {error}",
            backend="podman",
            hint=START_HINT,
        ) from None


def _name(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__name__}"
