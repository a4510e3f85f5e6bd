"""MCP server with tools that run code and commands, and resources with their results."""

import inspect
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations

from llm_sandbox.const import VERSION
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.integrations.mcp.access import SandboxAccess
from llm_sandbox.integrations.mcp.options import ServerOptions
from llm_sandbox.integrations.mcp.resources import Resources
from llm_sandbox.integrations.mcp.roots import FOLDER
from llm_sandbox.integrations.mcp.sessions import Sessions
from llm_sandbox.integrations.mcp.tools import Tools

__all__ = ["build_server", "make_server"]


def make_server(options: ServerOptions | None = None, *, one_client: bool = True) -> MCPServer[Any]:
    """Return a server that is not running yet.

    Args:
        options: Options of the sandboxes.
        one_client: Whether all calls come from one client, as over standard input and output: it
            then does not need to name its session.

    Raises:
        ValidationError: The options name a session for several clients.
    """
    return build_server(options or ServerOptions(), one_client=one_client)[0]


def build_server(chosen: ServerOptions, *, one_client: bool) -> tuple[MCPServer[Any], Sessions]:
    """Return a server that is not running yet, and its sandboxes.

    Args:
        chosen: Options of the sandboxes.
        one_client: As for `make_server`.

    Raises:
        ValidationError: The options name a session for several clients.
    """
    if chosen.session is not None and not one_client:
        raise ValidationError("clients would share the session that is kept", parameter="session")
    sessions = Sessions(chosen)

    @asynccontextmanager
    async def lifespan(_: MCPServer[Any]) -> AsyncIterator[Sessions]:
        async with sessions.kept():
            yield sessions

    server: MCPServer[Any] = MCPServer(
        "llm-sandbox",
        title="Code sandbox",
        version=VERSION,
        instructions=_instructions(chosen),
        lifespan=lifespan,
        log_level="WARNING",
    )
    access = SandboxAccess(sessions, one_client=one_client)
    for function, name, annotations, more in _offered(Tools(access, chosen), chosen):
        server.tool(
            name=name,
            description=f"{inspect.getdoc(function)}{more}",
            annotations=annotations,
            structured_output=False,
        )(function)
    Resources(access).add_to(server)
    return server, sessions


_Offer = tuple[Callable[..., Any], str, ToolAnnotations, str]


def _offered(tools: Tools, options: ServerOptions) -> list[_Offer]:
    """Yield each tool with its name, annotations, and addition to its description."""
    runs = _hints(destroys=True, repeats=False, reaches=options.network != "blocked")
    reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    timeout = options.tool.timeout
    ends = "" if timeout is None else f" It is stopped after {timeout:g} seconds."
    offered: list[_Offer] = [
        (tools.run_code, options.tool.name, runs, ends),
        (tools.run_command, "run_command", runs, ends),
        (tools.list_files, "list_files", reads, ""),
        (tools.read_file, "read_file", reads, ""),
        (tools.write_file, "write_file", _hints(destroys=True, repeats=False), ""),
        (tools.list_artifacts, "list_artifacts", reads, ""),
        (tools.create_session, "create_session", _hints(destroys=False, repeats=False), ""),
        (tools.close_session, "close_session", _hints(destroys=True, repeats=True), ""),
    ]
    if options.tool.reader is not None:
        offered.append((tools.read_output, options.tool.reader, reads, ""))
    if options.installs:
        # Another version may take the place of one; they come from an index.
        installs = _hints(destroys=True, repeats=True, reaches=True)
        offered.append((tools.install, "install", installs, ""))
    return offered


def _hints(*, destroys: bool, repeats: bool, reaches: bool = False) -> ToolAnnotations:
    """Return the annotations of a tool that changes something.

    Args:
        destroys: Whether the tool may destroy data.
        repeats: Whether the tool is idempotent.
        reaches: Whether the tool affects anything outside the sandbox.
    """
    return ToolAnnotations(
        read_only_hint=False,
        destructive_hint=destroys,
        idempotent_hint=repeats,
        open_world_hint=reaches,
    )


def _instructions(options: ServerOptions) -> str:
    network = "no network" if options.network == "blocked" else "the network"
    said = [
        f"Runs {', '.join(options.languages)} in sandboxes with {network}.",
        "Variables and files are kept from call to call.",
        f"A session that nobody uses for {options.idle_s:g} seconds is ended."
        if options.session is None
        else f"They are those of the session {options.session}, which is kept.",
        "Figures come back as images; whatever a run makes is a resource.",
    ]
    places = [place for _, place in options.files]
    if places:
        said.append(f"Files are there from the start: {', '.join(places)}.")
    if options.mounts:
        said.append(f"Folders of this computer are at {', '.join(options.mounts)}.")
    if options.takes_roots:
        said.append(f"The client's roots can be read below {FOLDER}.")
    return " ".join(said)
