"""One server for the tests of the server's own API."""

from collections.abc import Iterator

import pytest

from tests.server.servers import Served, served


@pytest.fixture(scope="package")
def server() -> Iterator[Served]:
    """A server without keys, on loopback."""
    with served("--sandboxes", "100") as running:
        yield running
