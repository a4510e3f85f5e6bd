"""`llm-sandbox mcp`: sandboxes as tools for any client of the Model Context Protocol."""

import os
import signal
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperOption

from llm_sandbox.cli.endings import exit_codes, usage_error
from llm_sandbox.cli.network import Network, NetworkOption
from llm_sandbox.cli.source import split_file_option
from llm_sandbox.limits import DEFAULT_TIMEOUT_S
from llm_sandbox.mounts import Bind

__all__ = ["Transport", "add_to", "mcp"]

_WILDCARDS = {"0.0.0.0": "HOST", "::": "HOST"}  # noqa: S104 - how clients do not call this


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
    context: typer.Context,
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
    image: Annotated[
        str | None,
        typer.Option(
            "--image", help="Image of a container backend, for one language.", metavar="NAME"
        ),
    ] = None,
    lib: Annotated[
        list[str] | None,
        typer.Option(
            "--lib",
            help="Library of the first language that is there from the start.",
            metavar="NAME",
        ),
    ] = None,
    network: NetworkOption = Network.BLOCKED,
    memory: Annotated[
        str | None,
        typer.Option("--memory", help="Memory of each sandbox, such as 512m.", metavar="SIZE"),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option("--policy", help="Preset or file of the policy.", metavar="PRESET|FILE"),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(
            "--env",
            "-e",
            help="Environment variable of sandboxes; may be repeated.",
            metavar="KEY=VALUE",
        ),
    ] = None,
    file: Annotated[
        list[str] | None,
        typer.Option(
            "--file",
            "-f",
            help="File or folder that is copied into each sandbox; may be repeated.",
            metavar="HOST[:DEST]",
        ),
    ] = None,
    mount: Annotated[
        list[str] | None,
        typer.Option(
            "--mount",
            help="Folder that each sandbox sees as it is, read-only unless it ends in :rw; may be "
            "repeated.",
            metavar="HOST:PATH[:rw]",
        ),
    ] = None,
    roots: Annotated[
        bool,
        typer.Option(
            "--roots",
            help="Let sandboxes read what the client names as its roots, below /roots; stdio only.",
        ),
    ] = False,
    timeout: Annotated[
        float,
        typer.Option(
            "--timeout", "-t", help="Seconds of one call: the usual, and the most.", metavar="S"
        ),
    ] = DEFAULT_TIMEOUT_S,
    session: Annotated[
        str | None,
        typer.Option(
            "--session",
            help="Go on with the session of this name, variables and all, and keep it when the "
            "client goes; made if there is none. It ends when it was unused for 24 hours, or by "
            "`stop NAME`; stdio only.",
            metavar="NAME",
        ),
    ] = None,
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
        str,
        typer.Option(
            "--host",
            help="Address for http; one that other computers reach needs LLM_SANDBOX_MCP_TOKEN, "
            "the bearer token of clients.",
            metavar="ADDRESS",
        ),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="Port for http.", metavar="N")] = 8765,
    config: Annotated[
        bool, typer.Option("--config", help="Print the configuration of clients, and stop.")
    ] = False,
) -> None:
    """Serve sandboxes as tools: code, commands, files, and figures as images."""
    with exit_codes():
        from llm_sandbox.integrations.extras import require

        require("mcp", "mcp")
        from llm_sandbox.cli.options import MachineOptions
        from llm_sandbox.integrations.mcp import ServerOptions, make_server
        from llm_sandbox.integrations.mcp.http import TOKEN_VARIABLE, check_address, serve
        from llm_sandbox.integrations.tool import ToolOptions
        from llm_sandbox.limits import validate_timeout

        machine = MachineOptions(memory=memory, policy=policy, env=env or ())
        options = ServerOptions(
            backend=backend,
            image=image,
            languages=tuple(lang or ["python"]),
            network=network.value,
            limits=machine.limits(),
            policy=machine.security_policy(),
            libraries=tuple(lib or ()),
            env=machine.variables(),
            files=tuple(split_file_option(text) for text in file or ()),
            mounts=dict(_mount(text) for text in mount or ()),
            takes_roots=roots,
            installs=install,
            session=session,
            sessions=sessions,
            idle_s=idle,
            tool=ToolOptions(timeout=validate_timeout(timeout, "--timeout")),
        )
        options.check()
        token = os.environ.get(TOKEN_VARIABLE) or None
        if transport is Transport.HTTP:
            if session is not None:
                usage_error(
                    "--session is for one client, and over http there may be many, which would "
                    "share it",
                    "leave --transport out",
                )
            if roots:
                usage_error(
                    "--roots are folders of the client's computer, and over http that may be "
                    "another one",
                    "--mount HOST:PATH names folders of this one",
                )
            check_address(host, token)
        if config:
            variable = TOKEN_VARIABLE if token else None
            print(_configuration(context, transport, host, port, variable, timeout))
        elif transport is Transport.HTTP:
            _end_in_order()
            serve(options, host, port, token)
        else:
            if sys.stdin.isatty():
                shown = _configuration(context, transport, host, port, None, timeout)
                print(f"{shown}\n\nwaiting for a client on standard input", file=sys.stderr)
            make_server(options).run("stdio")


def _mount(text: str) -> tuple[str, Bind]:
    """Return the place and the folder of a `--mount HOST:PATH[:rw]`."""
    rest, is_writable = text.removesuffix(":rw"), text.endswith(":rw")
    host, colon, place = rest.removesuffix(":ro").rpartition(":")
    if not colon or not host or not place.startswith("/"):
        usage_error(f"--mount: {text} names no folder and place", "--mount HOST:/PATH[:rw]")
    if not Path(host).exists():
        usage_error(f"--mount: there is no {host}", "--mount HOST:/PATH[:rw]")
    return place, Bind(host, read_only=not is_writable)


def _end_in_order() -> None:
    """Have a signal that ends the server leave time for what is ended with it."""

    def leave(number: int, _: object) -> None:
        sys.exit(128 + number)

    # The server has its own while it runs, and raises what it heard again when it has stopped.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, leave)


def _configuration(
    context: typer.Context,
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
        return configuration(Command.of(["mcp", *_given(context)]), timeout_s)
    name = _WILDCARDS.get(host, f"[{host}]" if ":" in host else host)
    return configuration(Endpoint(f"http://{name}:{port}{PATH}", token_variable), timeout_s)


def _given(context: typer.Context) -> list[str]:
    """The options that stand on the command line, but for `--config`, in their long form."""
    words: list[str] = []
    for option in context.command.params:
        name = option.name or ""
        source = context.get_parameter_source(name)
        if source is None or source.name != "COMMANDLINE" or name == "config":
            continue
        if isinstance(option, TyperOption):
            words += _words(option, context.params[name])
    return words


def _words(option: TyperOption, value: Any) -> list[str]:
    if option.is_flag:
        return [(option.opts if value else option.secondary_opts)[0]]
    values = value if isinstance(value, list | tuple) else [value]
    long = next(word for word in option.opts if word.startswith("--"))
    if long in ("--policy", "--file", "--mount"):
        values = [_from_anywhere(str(item)) for item in values]
    return [word for item in values for word in (long, str(item))]


def _from_anywhere(value: str) -> str:
    """A path, or a path and what follows it, for clients that start servers in other folders."""
    path, colon, rest = value, "", ""
    while path and not Path(path).exists():
        path, _, last = path.rpartition(":")
        colon, rest = ":", f"{last}:{rest}" if rest else last
    return f"{Path(path).resolve()}{colon}{rest}" if path else value
