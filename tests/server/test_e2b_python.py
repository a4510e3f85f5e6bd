"""E2B's own SDK for Python, unmodified, against a server."""

from collections.abc import Callable

import pytest
from e2b_code_interpreter import AsyncSandbox, Sandbox

from tests.server.e2b_steps import STEPS
from tests.server.servers import Served
from tests.server.steps import World

pytestmark = [pytest.mark.slow, pytest.mark.anyio]


@pytest.mark.parametrize("flavor", ["sync", "async"])
async def test_every_step_goes_as_against_e2b(
    flavor: str,
    server: Served,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    for name, value in server.variables().items():
        monkeypatch.setenv(name, value)
    world = World(Sandbox if flavor == "sync" else AsyncSandbox, flavor)
    await STEPS.run(world, f"E2B Python {flavor}", record_property)
