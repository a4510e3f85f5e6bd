"""A docker-py client that uses its connections to a local socket again."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.transport.unixconn import UnixHTTPConnectionPool

__all__ = ["make_client"]

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
