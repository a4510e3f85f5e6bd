"""Client of a container engine with Docker's API, which raises the errors of this library."""

import contextlib
import socket
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from llm_sandbox.backends.engine_probe import permission_hint
from llm_sandbox.backends.recipes import candidate_references
from llm_sandbox.exceptions import (
    BackendError,
    BackendUnavailableError,
    ContainerGoneError,
    ImageNotFoundError,
    SandboxError,
    UnsupportedError,
)

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.api import APIClient
    from docker.transport.unixconn import UnixHTTPConnectionPool

__all__ = ["Engine", "find_cause", "knock", "make_client"]

_DEEPEST = 50
_LOCAL = "http+docker://localhost"
"""URL that docker-py has for a local socket."""
_IMAGE_GOES = "image not known"
"""Podman's message, with the status of an internal error, for an image that is being removed."""
_ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64"}


class Engine:
    """One engine and its client. Safe to use from several threads.

    Args:
        client: A `docker.DockerClient`, connected to any engine with Docker's API.
        name: ``docker`` or ``podman``.
        start_hint: Hint for the error if it does not answer.
    """

    def __init__(self, client: "DockerClient", name: str, start_hint: str) -> None:
        self.client = client
        self.name = name
        self._start_hint = start_hint

    @property
    def api(self) -> "APIClient":
        """The low-level API of the client."""
        return self.client.api

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The engine's description of itself (Docker's ``/info``), requested once.

        Raises:
            BackendUnavailableError: It does not answer.
        """
        with self.errors("info"):
            found: dict[str, Any] = self.client.info()
            return found

    def check(self) -> None:
        """Raise BackendUnavailableError unless the engine answers and runs Linux containers."""
        if self.version["Os"] != "linux":
            raise self.unavailable(f"it runs {self.version['Os']} containers, not Linux ones")

    @cached_property
    def version(self) -> dict[str, Any]:
        """The engine's version (Docker's ``/version``), requested once.

        Raises:
            BackendUnavailableError: It does not answer.
        """
        with self.errors("version"):
            found: dict[str, Any] = self.client.version()
            return found

    @property
    def identity(self) -> str:
        """Unique identifier of the engine."""
        return str(self.facts.get("ID") or self.facts.get("Name") or "")

    @property
    def address(self) -> str:
        """The address that it answers at, such as ``unix:///var/run/docker.sock``."""
        # A client of a local socket has the URL of no machine.
        path = getattr(getattr(self.api, "_custom_adapter", None), "socket_path", None)
        return f"unix://{path}" if path else str(self.api.base_url)

    @property
    def is_local(self) -> bool:
        """True if the engine has a local socket, so that its files are those of this machine."""
        return str(self.api.base_url) == _LOCAL

    @property
    def architecture(self) -> str:
        """Architecture of its machine, as the kernel names it, such as ``x86_64``."""
        name = str(self.version["Arch"])
        return _ARCHITECTURES.get(name, name)

    def find_image(self, name: str) -> dict[str, Any] | None:
        """Return the engine's description of an image; None if it does not have the image.

        Args:
            name: Name, or id.

        Raises:
            BackendUnavailableError: The engine does not answer.
            BackendError: The engine refused.
        """
        api: Any = self.api
        for reference in candidate_references(self.name, name):
            try:
                with self.errors("inspect image", name):
                    found: dict[str, Any] = api.inspect_image(reference)
                    return found
            except ImageNotFoundError:
                continue
        return None

    def create_container(self, image: str, command: list[str], arguments: Mapping[str, Any]) -> str:
        """Create a container and return its id.

        Args:
            image: Name or id of an image that the engine has.
            command: The command line of process 1.
            arguments: Further arguments of the client's ``containers.create``.

        Raises:
            BackendError: The engine refused.
        """
        volumes = _by_source(arguments.get("volumes") or ())
        with self.errors("create", image):
            # As the entrypoint: Podman would put that of the image before the command.
            made = self.client.containers.create(
                image, **{**arguments, "entrypoint": command, "volumes": volumes}
            )
        return str(made.id)

    def update_container(self, container: str, arguments: Mapping[str, Any]) -> None:
        """Change the limits of a running container.

        Args:
            container: Its id.
            arguments: Arguments of the client's ``update``.

        Raises:
            UnsupportedError: The engine cannot, such as Podman 4.3.
            BackendError: The engine refused.
        """
        import docker.errors

        with self.errors("update_limits", container):
            found = self.client.containers.get(container)
            try:
                found.update(**arguments)
            except docker.errors.NotFound:  # not the container, as it was there
                raise UnsupportedError(
                    f"changing {', '.join(arguments)} of a running container",
                    self.name,
                    f"version {self.version['Version']} of the engine cannot",
                ) from None

    @contextlib.contextmanager
    def errors(self, op: str, subject: str = "") -> Iterator[None]:
        """Translate errors of the client that the block raises.

        Args:
            op: Name of the operation, for the error.
            subject: The image or container that it works on.

        Raises:
            BackendUnavailableError: The engine does not answer.
            ImageNotFoundError: The engine has no such image.
            ContainerGoneError: The engine has no such container.
            BackendError: The engine refused; the message has its reason.
        """
        import docker.errors
        import requests

        try:
            yield
        except SandboxError:
            raise
        except docker.errors.ImageNotFound:
            raise ImageNotFoundError(subject) from None
        except docker.errors.NotFound as error:
            raise ContainerGoneError(
                f"{self.name} has no such container any more: {_message(error)}",
                op=op,
                backend=self.name,
            ) from None
        except docker.errors.APIError as error:
            if _IMAGE_GOES in _message(error):
                raise ImageNotFoundError(subject) from None
            raise BackendError(
                f"{self.name} refused {op}: {_message(error)}", op=op, backend=self.name
            ) from None
        except (docker.errors.DockerException, requests.RequestException, OSError) as error:
            raise self.unavailable(find_cause(error)) from None

    def unavailable(self, reason: object) -> BackendUnavailableError:
        """Return the error for an engine that does not answer."""
        return BackendUnavailableError(
            f"the {self.name} engine does not answer: {reason}",
            backend=self.name,
            hint=permission_hint(self.name, reason, self._start_hint),
        )


def _by_source(volumes: Any) -> Any:
    """Return volumes as a mapping, if possible.

    In a list, docker-py knows no modes but ``ro`` and ``rw``: it takes any other for a part of the
    path, and has the engine make another volume there.
    """
    if isinstance(volumes, Mapping):
        return volumes
    found = {}
    for entry in volumes:
        source, target, mode = (*str(entry).split(":", 2), "", "")[:3]
        found[source] = {"bind": target, "mode": mode or "rw"}
        if not target:
            return volumes
    return found if len(found) == len(volumes) else volumes


def find_cause(error: BaseException) -> BaseException | str:
    """Return the message of the operating system that an error of the client wraps."""
    seen: list[object] = [error]
    for one in seen:
        if isinstance(one, BaseException) and len(seen) < _DEEPEST:
            if isinstance(one, OSError) and one.strerror:
                return one.strerror
            seen += [*one.args, one.__cause__, one.__context__, getattr(one, "reason", None)]
    return error


def _message(error: Any) -> str:
    text = getattr(error, "explanation", None) or error
    return (text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)).strip()


def knock(address: str) -> None:
    """Raise OSError if nothing listens at a local socket; docker-py would leave a socket open.

    Args:
        address: Address of an engine; all but local sockets are accepted unchecked.
    """
    scheme, _, path = address.partition("://")
    if scheme in ("unix", "http+unix"):
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(f"/{path.lstrip('/')}")


_CONNECTIONS = 64
"""Limit of open connections to the engine: each session holds one, and threads work in parallel."""


def make_client(
    address: str | None, *, version: str | None = None, tls: Any = None
) -> "DockerClient":
    """Return a docker-py client that reuses its connections to a local socket.

    Args:
        address: Address of the engine; None takes it from the environment.
        version: Version of the API; None (default) for docker-py's own choice.
        tls: A `docker.tls.TLSConfig` for `address`; None (default) for none.

    Raises:
        docker.errors.DockerException: The engine does not answer, or the address is wrong.
    """
    import docker

    if address is None:
        client = docker.from_env(version=version, max_pool_size=_CONNECTIONS)
    else:
        client = docker.DockerClient(
            base_url=address, version=version, tls=tls, max_pool_size=_CONNECTIONS
        )
    _share_connections(client)
    return client


# Until docker 7.3 its adapter has a connection pool for each URL, path and query included, and so
# keeps up to 25 connections open, one for each container that was ever inspected.
def _share_connections(client: "DockerClient") -> None:
    from docker.transport import UnixHTTPAdapter

    api = client.api
    scheme = "http+docker://"
    given = api.adapters.get(scheme)
    if not isinstance(given, UnixHTTPAdapter):
        return

    class OnePool(UnixHTTPAdapter):  # type: ignore[misc]  # it is not typed
        def get_connection(self, url: str, proxies: Any = None) -> "UnixHTTPConnectionPool":
            del url
            return super().get_connection(scheme + "localhost", proxies)

    shared = OnePool(given.socket_path, given.timeout, 1, given.max_pool_size)
    api._custom_adapter = shared
    # Proxies are read from the environment for each request, which fails while another thread
    # changes it; a local socket has none.
    api.trust_env = False
    api.mount(scheme, shared)
    given.close()
