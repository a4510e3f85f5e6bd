"""`llm-sandbox mcp --session NAME`: variables that outlive the server and its client."""

import secrets
from collections.abc import Iterator

import pytest

from llm_sandbox import attach_session, create_session
from llm_sandbox.exceptions import SandboxNotFoundError, ValidationError
from llm_sandbox.integrations.mcp import ServerOptions, make_server
from llm_sandbox.integrations.mcp.http import make_app
from llm_sandbox.integrations.openai import CodeTool
from tests.integrations.mcp_servers import name_of, over_stdio, text_of

pytestmark = [pytest.mark.slow, pytest.mark.anyio]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def name() -> Iterator[str]:
    """A name that nobody else has; the session of that name is ended."""
    chosen = f"mcp-{secrets.token_hex(4)}"
    yield chosen
    try:
        attach_session(chosen).close()
    except SandboxNotFoundError:
        return


async def test_variables_outlive_the_server(name: str) -> None:
    """The next one finds them, and so does everybody else of this user; closing it ends it."""
    async with over_stdio("--session", name) as client:
        assert name in (client.instructions or "")
        await client.call_tool("run_code", {"code": "x = 41"})
    async with over_stdio("--session", name) as client:
        kept = await client.call_tool("run_code", {"code": "x + 1"})
        assert kept.structured_content["value"] == "42"
        other = text_of(await client.call_tool("create_session", {})).removeprefix("session: ")
        fresh = await client.call_tool("run_code", {"code": "x", "session": other})
        assert fresh.structured_content["error"]["name"] == "NameError"
    with attach_session(name) as session:
        # An integration that accepts a session accepts this one.
        call = {"type": "custom_tool_call", "call_id": "1", "name": "run_code", "input": "x + 2"}
        assert "43" in CodeTool(session).call(call).reply.text
    async with over_stdio("--session", name) as client:
        mine = name_of(await client.call_tool("run_code", {"code": "x"}))
        await client.call_tool("close_session", {"session": mine})
    with pytest.raises(SandboxNotFoundError):
        attach_session(name)


async def test_a_session_with_other_settings_is_refused(name: str) -> None:
    """A server that says that there is no network does not open one by a name."""
    with create_session("bubblewrap", name=name, on_exit="keep", network="open"):
        pass
    async with over_stdio("--session", name) as client:
        refused = await client.call_tool("run_code", {"code": "1"})
        assert refused.is_error
        assert f"the session {name} was made with another network" in text_of(refused)
    # It was let go of, and lives on.
    with attach_session(name) as session:
        assert session.config.network == "open"


def test_many_clients_do_not_share_one() -> None:
    options = ServerOptions(backend="bubblewrap", session="shared")
    with pytest.raises(ValidationError, match="share"):
        make_app(options)
    with pytest.raises(ValidationError, match="share"):
        make_server(options, one_client=False)
    with pytest.raises(ValidationError, match="roots"):
        ServerOptions(session="kept", takes_roots=True)
