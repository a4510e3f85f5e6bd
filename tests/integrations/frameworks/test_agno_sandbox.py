"""The provider of `agno.sandbox`, by its contract, and under Agno's own command runner."""

import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

pytest.importorskip("agno.sandbox", reason="`make doors` installs Agno and runs this")

from agno.sandbox import SandboxError, SandboxHandle

from llm_sandbox.aio import AsyncSandbox
from llm_sandbox.integrations.agno import IsolatedSandbox
from tests.integrations.processes import Marked

pytestmark = pytest.mark.anyio


@pytest.fixture
async def provider() -> AsyncIterator[IsolatedSandbox]:
    one = IsolatedSandbox(namespace="agno-test", backend="bubblewrap", idle_timeout=120)
    yield one
    for sandbox in await AsyncSandbox.list(namespace="agno-test"):
        await sandbox.destroy()


@pytest.fixture
def session_id() -> str:
    """A session of its own: what has ended is remembered."""
    return f"session {uuid4()}"


@pytest.fixture
async def handle(provider: IsolatedSandbox, session_id: str) -> SandboxHandle:
    return await provider.acreate(session_id, agent_id="a", env={"A": "b"})


async def test_a_generation_is_one_computer(
    provider: IsolatedSandbox, handle: SandboxHandle, session_id: str
) -> None:
    """It is created once, found again by its names and its id, and keeps its files."""
    seen = (handle.session_id, handle.agent_id, handle.generation, handle.state)
    assert (session_id, "a", 1, "running") == seen
    done = await provider.aexec(handle, ["sh", "-c", "echo $A > kept; cat"], stdin=b"typed")
    assert (0, "typed", "") == (done.exit_code, done.stdout, done.stderr)
    assert handle == await provider.acreate(session_id, agent_id="a", env={"A": "b"})
    assert handle == await provider.aget(handle.provider_ref)
    assert handle == await provider.afind(session_id, agent_id="a", env={"A": "b"})
    assert "b\n" == (await provider.aexec(handle, ["cat", "kept"])).stdout
    second = await provider.acreate(session_id, agent_id="a", generation=2)
    assert handle.provider_ref != second.provider_ref
    assert await provider.afind(session_id, agent_id="other") is None


@pytest.mark.usefixtures("handle")
async def test_another_configuration_is_refused(provider: IsolatedSandbox, session_id: str) -> None:
    with pytest.raises(SandboxError, match="another configuration"):
        await provider.acreate(session_id, agent_id="a", env={"A": "other"})


async def test_what_has_ended_does_not_come_back(
    provider: IsolatedSandbox, handle: SandboxHandle
) -> None:
    await provider.astop(handle)
    assert await provider.aget(handle.provider_ref) is None
    with pytest.raises(SandboxError, match="has ended"):
        await provider.aexec(handle, ["true"])
    with pytest.raises(SandboxError, match="new generation"):
        await provider.acreate(handle.session_id, agent_id="a", env={"A": "b"})
    await provider.astop(handle)
    await provider.adestroy(handle)


async def test_ends_of_programs_are_told_apart(
    provider: IsolatedSandbox, handle: SandboxHandle
) -> None:
    assert 3 == (await provider.aexec(handle, ["sh", "-c", "exit 3"])).exit_code
    absent = await provider.aexec(handle, ["no-such-program"])
    assert 127 == absent.exit_code
    assert "no-such-program" in absent.stderr
    slow = await provider.aexec(handle, ["sleep", "60"], timeout=0.2)
    assert slow.timed_out
    loud = await provider.aexec(handle, ["yes"], max_output_bytes=1000)
    assert loud.output_limited
    assert 1000 == len(loud.stdout) + len(loud.stderr)
    with pytest.raises(ValueError, match="argv"):
        await provider.aexec(handle, "true")


async def test_a_cancelled_call_ends_its_program(
    provider: IsolatedSandbox, handle: SandboxHandle
) -> None:
    marked = Marked()
    task = asyncio.ensure_future(provider.aexec(handle, ["python", "-c", marked.code]))
    assert await marked.wait(running=True)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await marked.wait(running=False)


def test_the_plain_calls_are_the_same(session_id: str) -> None:
    """Agno has each call twice; the plain ones run the awaitable ones."""
    one = IsolatedSandbox(namespace="agno-test", backend="bubblewrap", idle_timeout=120)
    handle = one.create(session_id)
    try:
        assert "1\n" == one.exec(handle, ["echo", "1"]).stdout
    finally:
        one.destroy(handle)
    assert one.get(handle.provider_ref) is None


async def test_a_sandbox_of_others_is_refused(
    provider: IsolatedSandbox, handle: SandboxHandle
) -> None:
    other = IsolatedSandbox(namespace="agno-other", backend="bubblewrap")
    with pytest.raises(SandboxError, match="does not belong"):
        await other.aget(handle.provider_ref)
