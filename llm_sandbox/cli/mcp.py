"""`llm-sandbox mcp`: sandboxes as tools for any client of the Model Context Protocol."""

import json
import shutil
import sys
from enum import StrEnum
from typing import Annotated

import typer

from llm_sandbox.cli.endings import exit_codes
from llm_sandbox.cli.options import MachineOptions

__all__ = ["Transport", "add_to", "mcp"]

_CLIENTS = """\
Claude Desktop, Claude Code (.mcp.json), Cursor (.cursor/mcp.json) and Windsurf take this block;
VS Code (.vscode/mcp.json) takes what is inside of "mcpServers" under "servers".
"""


class Transport(StrEnum):
    """How clients are spoken to."""

    STDIO = "stdio"
    HTTP = "http"


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(
        epilog="Clients start this command themselves; --config prints what tells them to."
    )(mcp)


def mcp(
    lang: Annotated[
        list[str] | None,
        typer.Option(
            "--lang",
            "-l",
            help="Language that clients may use; may be repeated, the first is the default.",
            metavar="NAME",
        ),
    ] = None,
    backend: Annotated[
        str | None,
        typer.Option("--backend", "-b", help="Where sandboxes are made.", metavar="NAME"),
    ] = None,
    lib: Annotated[
        list[str] | None,
        typer.Option("--lib", help="Library that is there from the start.", metavar="NAME"),
    ] = None,
    network: Annotated[
        bool, typer.Option("--open-network", help="Share the network of this machine.")
    ] = False,
    memory: Annotated[
        str | None,
        typer.Option("--memory", help="Memory of each sandbox, such as 512m.", metavar="SIZE"),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option("--policy", help="Preset or file of the policy.", metavar="PRESET|FILE"),
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", "-t", help="Most seconds of one call.", metavar="S")
    ] = 60.0,
    sessions: Annotated[
        int, typer.Option("--sessions", help="Most sandboxes at once.", metavar="N")
    ] = 8,
    idle: Annotated[
        float,
        typer.Option("--idle", help="Seconds until an unused sandbox is ended.", metavar="S"),
    ] = 1800.0,
    install: Annotated[
        bool, typer.Option("--install/--no-install", help="Whether clients may install libraries.")
    ] = True,
    transport: Annotated[
        Transport, typer.Option("--transport", help="stdio: one client; http: many.")
    ] = Transport.STDIO,
    host: Annotated[
        str, typer.Option("--host", help="Address for http.", metavar="ADDRESS")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="Port for http.", metavar="N")] = 8765,
    config: Annotated[
        bool, typer.Option("--config", help="Print the configuration of clients, and stop.")
    ] = False,
) -> None:
    """Serve sandboxes as tools: code, commands, files, and figures as images."""
    if config:
        print(_configuration(transport, host, port))
        return
    with exit_codes():
        from llm_sandbox.integrations.extras import require

        require("mcp", "mcp")
        from llm_sandbox.integrations.mcp import ServerOptions, make_server
        from llm_sandbox.integrations.tool import ToolOptions

        machine = MachineOptions(memory=memory, policy=policy)
        options = ServerOptions(
            backend=backend,
            languages=tuple(lang or ["python"]),
            network="open" if network else "blocked",
            limits=machine.limits(),
            policy=machine.security_policy(),
            libraries=tuple(lib or ()),
            installs=install,
            sessions=sessions,
            idle_s=idle,
            tool=ToolOptions(timeout=timeout),
        )
        server = make_server(options, one_client=transport is Transport.STDIO)
        if sys.stdin.isatty() and transport is Transport.STDIO:
            print(f"{_configuration(transport, host, port)}\nwaiting for a client", file=sys.stderr)
        if transport is Transport.STDIO:
            server.run("stdio")
        else:
            server.run("streamable-http", host=host, port=port)


def _configuration(transport: Transport, host: str, port: int) -> str:
    """What clients are told, for the command line that this is."""
    if transport is Transport.HTTP:
        entry: dict[str, object] = {"type": "http", "url": f"http://{host}:{port}/mcp"}
    else:
        words = sys.argv[sys.argv.index("mcp") :] if "mcp" in sys.argv else ["mcp"]
        given = [word for word in words if word != "--config"]
        program = shutil.which("llm-sandbox")
        entry = (
            {"command": program, "args": given}
            if program
            else {"command": sys.executable, "args": ["-m", "llm_sandbox", *given]}
        )
    block = json.dumps({"mcpServers": {"llm-sandbox": entry}}, indent=2)
    return f"{block}\n\n{_CLIENTS}"
