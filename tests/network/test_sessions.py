"""Network hints of a run: the refused attempt, and the option that allows it."""

from __future__ import annotations

import pytest

from llm_sandbox import ExecutionResult, aio, create_session
from llm_sandbox.network import NetworkRules
from tests.network.conftest import Host, usable


def fetch(name: str, port: int) -> str:
    return f"import socket\nprint(socket.create_connection(({name!r}, {port}), 5).recv(100))"


def test_a_run_brings_what_it_was_refused(host: Host) -> None:
    """Each run its own attempts, in the result, its JSON and its hint; a good run has no hint."""
    usable("bubblewrap")
    rules = NetworkRules.allow(hosts={"files.test": "127.0.0.1"}, ports=[host.port])
    with create_session(backend="bubblewrap", network=rules) as session:
        good = session.run(fetch("files.test", host.port))
        assert (good.stdout, good.network, good.notes) == ("b'hello from the host'\n", (), ())

        bad = session.run(fetch("other.test", host.port))
        assert [(one.verdict, one.target) for one in bad.network] == [("denied", "other.test")]
        assert len(bad.notes) == 1
        assert "NetworkRules.allow(domains=['other.test'])" in bad.notes[0]
        assert ExecutionResult.from_json(bad.to_json()).network == bad.network
        assert "network" in bad.trust["measured"]

        # By its address, and caught: it is told, and nothing is wrong that a hint would explain.
        code = "import socket\ntry: socket.create_connection(('192.0.2.7', 80))\nexcept OSError: 0"
        caught = session.run(code)
        assert [one.address for one in caught.network] == ["192.0.2.7"]
        assert (caught.exit_code, caught.notes) == (0, ())

        assert session.run("1 + 1").network == ()

        session.sandbox.set_network("internet")
        private = session.run(fetch("192.168.3.4", 80))
        assert [one.reason for one in private.network] == ["private_address"]
        assert private.exit_code == 1


@pytest.mark.engine("docker", image="python")
def test_a_container_session_has_rules_as_well(host: Host) -> None:
    usable("docker")
    rules = NetworkRules.allow(hosts={"files.test": "127.0.0.1"}, ports=[host.port])
    with create_session(backend="docker", network=rules) as session:
        assert session.run(fetch("files.test", host.port)).exit_code == 0
        assert session.run(fetch("other.test", host.port)).network[0].target == "other.test"


@pytest.mark.parametrize(
    "code",
    [
        "import urllib.request\nurllib.request.urlopen('http://example.org')",
        "import socket\nsocket.create_connection(('192.0.2.7', 80))",
    ],
    ids=["name", "address"],
)
def test_a_failure_without_a_network_says_what_opens_it(code: str) -> None:
    usable("bubblewrap")
    with create_session(backend="bubblewrap") as session:
        failed = session.run(code)
        assert failed.exit_code == 1
        assert failed.network == ()
        assert "NetworkRules.allow(domains=['...'])" in failed.notes[0]
        assert "network='internet'" in failed.notes[0]
        # Any other failure is not explained by it.
        assert session.run("1 / 0").notes == ()


@pytest.mark.anyio
async def test_awaitable_twins_have_it_too(host: Host) -> None:
    usable("bubblewrap")
    rules = NetworkRules.allow(hosts={"files.test": "127.0.0.1"}, ports=[host.port])
    async with await aio.AsyncSandbox.create(
        backend="bubblewrap", network="blocked", ports=(7000,)
    ) as sandbox:
        assert sandbox.network == "blocked"
        assert set(await sandbox.tunnels()) == {7000}
        await sandbox.set_network(rules)
        process = await sandbox.exec("python3", "-c", fetch("files.test", host.port))
        assert (await process.collect()).exit_code == 0
        process = await sandbox.exec("python3", "-c", fetch("other.test", host.port))
        await process.collect()
        assert [one.target for one in await sandbox.network_events()] == ["other.test"]
