"""`llm-sandbox mcp`: sandboxes as tools for any client of the Model Context Protocol."""

import os
import signal
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from llm_sandbox.cli.endings import exit_codes
from llm_sandbox.cli.grammar import Command, Option, Parsed
from llm_sandbox.cli.network import Network, NetworkOption

__all__ = ["MCP", "Transport", "mcp"]

_WILDCARDS = {"0.0.0.0": "HOST", "::": "HOST"}  # noqa: S104 - how clients do not call this


class Transport(StrEnum):
    """How clients are spoken to."""

    STDIO = "stdio"
    HTTP = "http"


def mcp(
    parsed: Parsed,
    lang: Annotated[
        list[str] | None,
        Option(
            "--lang",
            "-l",
            help="Language that clients may use; may be repeated, the first is the default.",
            metavar="NAME",
        ),
    ] = None,
    backend: Annotated[
        str | None,
        Option("--backend", "-b", help="Where sandboxes are made.", metavar="NAME"),
    ] = None,
    image: Annotated[
        str | None,
        Option("--image", help="Image of a container backend, for one language.", metavar="NAME"),
    ] = None,
    lib: Annotated[
        list[str] | None,
        Option(
            "--lib",
            help="Library of the first language that is there from the start.",
            metavar="NAME",
        ),
    ] = None,
    network: NetworkOption = Network.BLOCKED,
    memory: Annotated[
        str | None,
        Option("--memory", help="Memory of each sandbox, such as 512m.", metavar="SIZE"),
    ] = None,
    policy: Annotated[
        str | None,
        Option("--policy", help="Preset or file of the policy.", metavar="PRESET|FILE"),
    ] = None,
    env: Annotated[
        list[str] | None,
        Option(
            "--env",
            "-e",
            help="Environment variable of sandboxes; may be repeated.",
            metavar="KEY=VALUE",
        ),
    ] = None,
    timeout: Annotated[
        float, Option("--timeout", "-t", help="Most seconds of one call.", metavar="S")
    ] = 60.0,
    sessions: Annotated[int, Option("--sessions", help="Most sandboxes at once.", metavar="N")] = 8,
    idle: Annotated[
        float,
        Option("--idle", help="Seconds until an unused sandbox is ended.", metavar="S"),
    ] = 1800.0,
    install: Annotated[
        bool, Option("--install/--no-install", help="Whether clients may install libraries.")
    ] = True,
    transport: Annotated[
        Transport, Option("--transport", help="stdio: one client; http: many.")
    ] = Transport.STDIO,
    host: Annotated[
        str,
        Option(
            "--host",
            help="Address for http; one that other computers reach needs LLM_SANDBOX_MCP_TOKEN, "
            "the bearer token of clients.",
            metavar="ADDRESS",
        ),
    ] = "127.0.0.1",
    port: Annotated[int, Option("--port", help="Port for http.", metavar="N")] = 8765,
    config: Annotated[
        bool, Option("--config", help="Print the configuration of clients, and stop.")
    ] = False,
) -> None:
    """Serve sandboxes as tools: code, commands, files, and figures as images."""
    with exit_codes():
        from llm_sandbox.integrations.extras import require

        require("mcp", "mcp")
        from llm_sandbox.cli.options import SessionOptions
        from llm_sandbox.integrations.mcp import ServerOptions, make_server
        from llm_sandbox.integrations.mcp.http import TOKEN_VARIABLE, check_address, serve
        from llm_sandbox.integrations.tool import ToolOptions
        from llm_sandbox.limits import validate_timeout

        machine = SessionOptions(memory=memory, policy=policy, env=env)
        options = ServerOptions(
            backend=backend,
            image=image,
            languages=tuple(lang or ["python"]),
            network=network.value,
            limits=machine.limits(),
            policy=machine.security_policy(),
            libraries=tuple(lib or ()),
            env=machine.variables(),
            installs=install,
            sessions=sessions,
            idle_s=idle,
            tool=ToolOptions(timeout=validate_timeout(timeout, "--timeout")),
        )
        options.check()
        token = os.environ.get(TOKEN_VARIABLE) or None
        if transport is Transport.HTTP:
            check_address(host, token)
        if config:
            variable = TOKEN_VARIABLE if token else None
            print(_configuration(parsed, transport, host, port, variable, timeout))
        elif transport is Transport.HTTP:
            _end_in_order()
            serve(options, host, port, token)
        else:
            if sys.stdin.isatty():
                shown = _configuration(parsed, transport, host, port, None, timeout)
                print(f"{shown}\n\nwaiting for a client on standard input", file=sys.stderr)
            make_server(options).run("stdio")


def _end_in_order() -> None:
    """Have a signal that ends the server leave time for what is ended with it."""

    def leave(number: int, _: object) -> None:
        sys.exit(128 + number)

    # The server has its own while it runs, and raises what it heard again when it has stopped.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave)


def _configuration(
    parsed: Parsed,
    transport: Transport,
    host: str,
    port: int,
    token_variable: str | None,
    timeout_s: float,
) -> str:
    """What clients are told, for the command line that this is."""
    from llm_sandbox.cli.mcp_clients import Command, Endpoint, configuration
    from llm_sandbox.integrations.mcp.http import PATH

    if transport is Transport.STDIO:
        return configuration(Command.of(["mcp", *_given(parsed)]), timeout_s)
    name = _WILDCARDS.get(host, f"[{host}]" if ":" in host else host)
    return configuration(Endpoint(f"http://{name}:{port}{PATH}", token_variable), timeout_s)


def _given(parsed: Parsed) -> list[str]:
    """The options that stand on the command line, but for `--config`, in their long form."""
    words: list[str] = []
    for name, value in parsed:
        if name == "--config":
            continue
        words.append(name)
        if name == "--policy" and value is not None and Path(value).is_file():
            # Clients start the server in folders of their own.
            words.append(str(Path(value).resolve()))
        elif value is not None:
            words.append(value)
    return words


MCP = Command(
    mcp, epilog="Clients start this command themselves; --config prints what tells them to."
)
