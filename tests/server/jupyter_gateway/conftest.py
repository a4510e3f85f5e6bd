"""One gateway with two tenants for the tests of this folder."""

from collections.abc import Iterator

import pytest

from llm_sandbox.server.keys import KeyFile
from tests.server.jupyter_gateway.gateways import Gateway
from tests.server.servers import served


@pytest.fixture(scope="package")
def tenants(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Gateway]]:
    keys = KeyFile(tmp_path_factory.mktemp("keys") / "keys.json")
    tokens = [keys.create(name) for name in ("mine", "other")]
    with served("--keys", str(keys.path), "--sandboxes", "6", "--memory", "512m") as server:
        yield [Gateway(server, token) for token in tokens]


@pytest.fixture(scope="package")
def mine(tenants: list[Gateway]) -> Gateway:
    return tenants[0]


@pytest.fixture(scope="package")
def other(tenants: list[Gateway]) -> Gateway:
    return tenants[1]


@pytest.fixture(scope="package")
def python(mine: Gateway) -> Iterator[str]:
    """A kernel that tests share, which they leave idle."""
    kernel_id = mine.start(env={"KERNEL_WORKING_DIR": "/far/away"})
    yield kernel_id
    mine.end(kernel_id)
