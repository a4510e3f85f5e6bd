"""State over HTTP by the protocol without sessions, which is what the official client chooses."""

import contextlib
from collections.abc import AsyncIterator, Iterator

import anyio
import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.integrations.mcp_servers import PATIENCE_S, Served, name_of, served, text_of

pytestmark = [pytest.mark.slow, pytest.mark.anyio]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    """A server with room for four sandboxes."""
    with served("--sessions", "4") as running:
        yield running


@contextlib.asynccontextmanager
async def forgetful(server: Served, cookie: str | None = None) -> AsyncIterator[Client]:
    """A client that sends no cookie back, or always the same that it has made up."""

    async def forget(request: httpx2.Request) -> None:
        request.headers.pop("cookie", None)
        if cookie is not None:
            request.headers["cookie"] = cookie

    hooks = {"request": [forget]}
    async with (
        httpx2.AsyncClient(timeout=PATIENCE_S, event_hooks=hooks) as sender,
        Client(streamable_http_client(server.url, http_client=sender)) as client,
    ):
        assert client.protocol_version == "2026-07-28"
        yield client


async def close(client: Client, *names: str) -> None:
    """End sessions, for the tests after this one."""
    for name in names:
        await client.call_tool("close_session", {"session": name})


async def test_variables_are_kept(server: Served) -> None:
    """As they are over standard input and output: forty calls are one session."""
    async with server.modern() as client:
        names = {name_of(await client.call_tool("run_code", {"code": "x = 1"}))}
        for _ in range(39):
            said = await client.call_tool("run_code", {"code": "x += 1; print(x)"})
            names.add(name_of(said))
        assert "40" in text_of(said).splitlines()
        assert len(names) == 1
        assert f"session: {names.copy().pop()}" in text_of(said)
        await close(client, *names)


async def test_clients_share_nothing(server: Served) -> None:
    """Neither variables nor files, nor lists of what there is; calls at the same time, too."""
    async with server.modern() as one, server.modern() as other:
        first = await one.call_tool("run_code", {"code": "x = 1; open('a', 'w').write('mine')"})
        second = await other.call_tool("run_code", {"code": "print(x)"})
        assert second.structured_content["error"]["name"] == "NameError"
        assert name_of(first) != name_of(second)
        assert "the folder is empty" in text_of(await other.call_tool("list_files", {}))
        assert (await other.list_resources()).resources == []
        assert [item.name for item in (await one.list_resources()).resources] == ["a", "a"]
        told: dict[str, str] = {}

        async def call(client: Client, name: str) -> None:
            code = f"import time; me = {name!r}; time.sleep(0.2); print(me)"
            told[name] = text_of(await client.call_tool("run_code", {"code": code}))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call, one, "one")
            tasks.start_soon(call, other, "other")
        assert "one" in told["one"].splitlines()
        assert "other" in told["other"].splitlines()
        await close(one, name_of(first))
        await close(other, name_of(second))


async def test_a_client_that_comes_back_names_its_session(server: Served) -> None:
    """A conversation goes on after the connection has ended: its model knows the name."""
    async with server.modern() as client:
        name = name_of(await client.call_tool("run_code", {"code": "x = 41"}))
    async with server.modern() as client:
        lost = await client.call_tool("run_code", {"code": "x"})
        assert lost.structured_content["error"]["name"] == "NameError"
        kept = await client.call_tool("run_code", {"code": "x + 1", "session": name})
        assert kept.structured_content["value"] == "42"
        await close(client, name, name_of(lost))


async def test_a_client_without_cookies_is_told_what_to_do(server: Served) -> None:
    """One session, whose name it has to pass; without it nothing is lost in silence."""
    async with forgetful(server) as client:
        first = await client.call_tool("run_code", {"code": "x = 41"})
        name = name_of(first)
        assert f'pass session="{name}" in every further call' in text_of(first)
        for _ in range(40):
            again = await client.call_tool("run_code", {"code": "x"})
            assert again.is_error
            assert "name the session of an earlier answer" in text_of(again)
        kept = await client.call_tool("run_code", {"code": "x + 1", "session": name})
        assert kept.structured_content["value"] == "42"
        assert "in every further call" not in text_of(kept)
        made = await client.call_tool("create_session", {})
        other = text_of(made).removeprefix("session: ")
        await close(client, name, other)


@pytest.mark.parametrize("cookie", ["chosen", "deadbeef.deadbeef", "deadbeef.", "."])
async def test_a_cookie_that_is_made_up_is_nobodys(server: Served, cookie: str) -> None:
    """What two clients write into it alike gives neither what is the other's."""
    written = f"llm-sandbox-client={cookie}"
    async with forgetful(server, written) as one, forgetful(server, written) as other:
        name = name_of(await one.call_tool("run_code", {"code": "x = 1"}))
        theirs = await other.call_tool("run_code", {"code": "print(x)"})
        assert theirs.is_error
        assert name not in text_of(theirs)
        await close(one, name)


async def test_the_cap_holds_and_what_is_unused_makes_room() -> None:
    """A fifth client is refused while four are at work, and gets in when one has been idle; the
    one that made room is told.
    """
    # An unused sandbox is spared for a thirtieth of the time after which it is ended.
    with served("--sessions", "2", "--idle", "60") as server:
        async with contextlib.AsyncExitStack() as stack:
            clients = [await stack.enter_async_context(server.modern()) for _ in range(3)]
            one = name_of(await clients[0].call_tool("run_code", {"code": "x = 1"}))
            await clients[1].call_tool("run_code", {"code": "x = 1"})
            refused = await clients[2].call_tool("run_code", {"code": "1"})
            assert refused.is_error
            assert "there are 2 sessions, and no more are allowed" in text_of(refused)
            with anyio.fail_after(PATIENCE_S):
                while (await clients[2].call_tool("run_code", {"code": "1"})).is_error:
                    await clients[1].call_tool("run_code", {"code": "x"})
                    await anyio.sleep(0.1)
            kept = await clients[1].call_tool("run_code", {"code": "x"})
            assert kept.structured_content["value"] == "1"
            gone = await clients[0].call_tool("run_code", {"code": "x", "session": one})
            assert f"{one} is gone, because the server has room for 2 sessions" in text_of(gone)


async def test_an_idle_session_is_told_of() -> None:
    """Over both protocols, by the next answer."""
    with served("--idle", "0.5") as server:
        for client_of in (server.modern, server.legacy):
            async with client_of() as client:
                first = name_of(await client.call_tool("run_code", {"code": "x = 1"}))
                with anyio.fail_after(PATIENCE_S):
                    while True:
                        said = await client.call_tool("run_code", {"code": "x"})
                        if name_of(said) != first:
                            break
                        await anyio.sleep(2)
                assert "is gone, because nobody used it for 0.5 seconds" in text_of(said)
