"""A container engine that speaks Docker's interface, with our errors instead of its client's."""

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
"""What docker-py makes of the address of a local socket."""
_IMAGE_GOES = "image not known"
"""What Podman says, with a status of its own faults, of an image that is just being removed."""
_ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64"}


class Engine:
    """One engine and the client that reaches it. Safe to use from several threads.

    Args:
        client: A `docker.DockerClient`, connected to any engine that answers like Docker.
        name: ``docker`` or ``podman``: for error messages, and for what differs between them.
        start_hint: What to type when it does not answer.
    """

    def __init__(self, client: "DockerClient", name: str, start_hint: str) -> None:
        self.client = client
        self.name = name
        self._start_hint = start_hint

    @property
    def api(self) -> "APIClient":
        """The client's low level."""
        return self.client.api

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What the engine says of itself (Docker's ``/info``), asked once.

        Raises:
            BackendUnavailableError: It does not answer.
        """
        with self.errors("info"):
            found: dict[str, Any] = self.client.info()
            return found

    def check(self) -> None:
        """Raise BackendUnavailableError unless it answers and runs Linux containers."""
        if self.version["Os"] != "linux":
            raise self.unavailable(f"it runs {self.version['Os']} containers, not Linux ones")

    @cached_property
    def version(self) -> dict[str, Any]:
        """Docker's ``/version``, asked once.

        Raises:
            BackendUnavailableError: It does not answer.
        """
        with self.errors("version"):
            found: dict[str, Any] = self.client.version()
            return found

    @property
    def identity(self) -> str:
        """What tells this engine from others."""
        return str(self.facts.get("ID") or self.facts.get("Name") or "")

    @property
    def address(self) -> str:
        """The address that it answers at, such as ``unix:///var/run/docker.sock``."""
        # A client of a local socket has the URL of no machine.
        path = getattr(getattr(self.api, "_custom_adapter", None), "socket_path", None)
        return f"unix://{path}" if path else str(self.api.base_url)

    @property
    def is_local(self) -> bool:
        """Whether it is reached by a socket of this computer, so that its files are this one's."""
        return str(self.api.base_url) == _LOCAL

    @property
    def architecture(self) -> str:
        """Of its machine, as the kernel names it, such as ``x86_64``."""
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
        """Make a container and return its id.

        Args:
            image: Name or id of an image that the engine has.
            command: The command line of process 1.
            arguments: Everything else that the client's ``containers.create`` takes.

        Raises:
            BackendError: The engine refused.
        """
        volumes = _by_source(arguments.get("volumes") or ())
        with self.errors("create", image):
            # As the entrypoint: Podman puts the image's own before any other command.
            made = self.client.containers.create(
                image, **{**arguments, "entrypoint": command, "volumes": volumes}
            )
        return str(made.id)

    def update_container(self, container: str, arguments: Mapping[str, Any]) -> None:
        """Change the limits of a running container.

        Args:
            container: Its id.
            arguments: What the client's ``update`` takes.

        Raises:
            UnsupportedError: The engine cannot; Podman 4.3 is such a one.
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
        """Translate what the client raises inside the block.

        Args:
            op: What is being done, for the error.
            subject: The image or container that it is done to.

        Raises:
            BackendUnavailableError: The engine does not answer.
            ImageNotFoundError: It has no such image.
            ContainerGoneError: It has no such container.
            BackendError: It refused; the message has its words.
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
                f"{self.name} has no such container any more: {_words(error)}",
                op=op,
                backend=self.name,
            ) from None
        except docker.errors.APIError as error:
            if _IMAGE_GOES in _words(error):
                raise ImageNotFoundError(subject) from None
            raise BackendError(
                f"{self.name} refused {op}: {_words(error)}", op=op, backend=self.name
            ) from None
        except (docker.errors.DockerException, requests.RequestException, OSError) as error:
            raise self.unavailable(find_cause(error)) from None

    def unavailable(self, reason: object) -> BackendUnavailableError:
        """The error for an engine that does not answer."""
        return BackendUnavailableError(
            f"the {self.name} engine does not answer: {reason}",
            backend=self.name,
            hint=permission_hint(self.name, reason, self._start_hint),
        )


def _by_source(volumes: Any) -> Any:
    """Volumes as a mapping, where it can be.

    From a list, docker-py takes for a part of the path what follows it, unless that is ``ro`` or
    ``rw``, and has the engine make another volume there.
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
    """What the system said, out of what the client and its libraries have wrapped it in."""
    seen: list[object] = [error]
    for one in seen:
        if isinstance(one, BaseException) and len(seen) < _DEEPEST:
            if isinstance(one, OSError) and one.strerror:
                return one.strerror
            seen += [*one.args, one.__cause__, one.__context__, getattr(one, "reason", None)]
    return error


def _words(error: Any) -> str:
    words = getattr(error, "explanation", None) or error
    return (words.decode("utf-8", "replace") if isinstance(words, bytes) else str(words)).strip()


def knock(address: str) -> None:
    """Raise OSError unless a local socket can be connected to; its client would leave one open.

    Args:
        address: Where an engine listens; anything but a local socket is left alone.
    """
    scheme, _, path = address.partition("://")
    if scheme in ("unix", "http+unix"):
        with socket.socket(socket.AF_UNIX) as knocking:
            knocking.connect(f"/{path.lstrip('/')}")


_CONNECTIONS = 64
"""Kept open to the engine at most: each session holds one, and threads use them side by side."""


def make_client(
    address: str | None, *, version: str | None = None, tls: Any = None
) -> "DockerClient":
    """Make a client.

    Args:
        address: Where the engine listens; None takes it from the environment.
        version: Of the interface; None (default) for docker-py's own choice.
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


# until docker 7.3: its adapter has a pool of connections for each URL, path and query included, and
# so a connection open for each container that was ever asked about, up to 25 of them.
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
    api.mount(scheme, shared)
    given.close()
