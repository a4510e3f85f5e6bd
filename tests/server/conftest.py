"""One server for the tests of a module."""

from collections.abc import Iterator

import pytest

from tests.server.servers import Served, served


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    """A server without keys, on loopback."""
    with served() as running:
        yield running
