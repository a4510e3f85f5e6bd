"""`llm-sandbox mcp`: sandboxes as tools for any client of the Model Context Protocol."""

import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from llm_sandbox.cli.exit_codes import exit_codes, usage_error
from llm_sandbox.cli.grammar import Command, Option, Parsed
from llm_sandbox.cli.options import Network, NetworkOption
from llm_sandbox.cli.source import split_file_option
from llm_sandbox.limits import DEFAULT_TIMEOUT_S

__all__ = ["MCP", "Endpoint", "ServerCommand", "Transport", "configuration", "mcp"]

_PATHS = ("--file", "--mount", "--policy")
_WILDCARDS = {"0.0.0.0": "HOST", "::": "HOST"}  # noqa: S104 - how clients do not call this
_NAME = "llm-sandbox"
_START_S = 60
_SLACK_S = 30


class Transport(StrEnum):
    """Transport of the protocol."""

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
    file: Annotated[
        list[str] | None,
        Option(
            "--file",
            "-f",
            help="File or folder that is copied into each sandbox; may be repeated.",
            metavar="HOST[:DEST]",
        ),
    ] = None,
    mount: Annotated[
        list[str] | None,
        Option(
            "--mount",
            help="Folder that each sandbox sees as it is, read-only unless it ends in :rw; may be "
            "repeated.",
            metavar="HOST:PATH[:ro|rw]",
        ),
    ] = None,
    roots: Annotated[
        bool,
        Option(
            "--roots",
            help="Let sandboxes read what the client names as its roots, below /roots; stdio only.",
        ),
    ] = False,
    timeout: Annotated[
        float,
        Option(
            "--timeout", "-t", help="Seconds of one call: the usual, and the most.", metavar="S"
        ),
    ] = DEFAULT_TIMEOUT_S,
    session: Annotated[
        str | None,
        Option(
            "--session",
            help="Go on with the session of this name, variables and all, and keep it when the "
            "client goes; made if there is none. It ends when it was unused for 24 hours, or by "
            "`stop NAME`; stdio only.",
            metavar="NAME",
        ),
    ] = None,
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

        machine = SessionOptions(memory=memory, mount=mount, policy=policy, env=env)
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
            mounts=machine.mounts(),
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
    """Let a signal that ends the server leave time for cleaning up."""

    def leave(number: int, _: object) -> None:
        sys.exit(128 + number)

    # The server has handlers of its own while it runs, and raises its signal again afterwards.
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
    """Return the configuration of clients for this command line."""
    from llm_sandbox.integrations.mcp.http import PATH

    if transport is Transport.STDIO:
        return configuration(ServerCommand.of(["mcp", *_given(parsed)]), timeout_s)
    name = _WILDCARDS.get(host, f"[{host}]" if ":" in host else host)
    return configuration(Endpoint(f"http://{name}:{port}{PATH}", token_variable), timeout_s)


def _given(parsed: Parsed) -> list[str]:
    """Return the given options in their long form, except `--config`."""
    words: list[str] = []
    for name, value in parsed:
        if name == "--config":
            continue
        words.append(name)
        if value is not None:
            words.append(_from_anywhere(value) if name in _PATHS else value)
    return words


def _from_anywhere(value: str) -> str:
    """Make the path of an option value absolute: clients start servers in other folders."""
    path, colon, rest = value, "", ""
    while path and not Path(path).exists():
        path, _, last = path.rpartition(":")
        colon, rest = ":", f"{last}:{rest}" if rest else last
    return f"{Path(path).resolve()}{colon}{rest}" if path else value


MCP = Command(
    mcp, epilog="Clients start this command themselves; --config prints what tells them to."
)


@dataclass(frozen=True)
class ServerCommand:
    """Command of a server that clients start."""

    argv: Sequence[str]
    """The command and its arguments."""

    @staticmethod
    def of(words: Sequence[str]) -> "ServerCommand":
        """Return the command of this installation, with absolute paths.

        Args:
            words: Arguments of the program.
        """
        program = Path(sys.executable).with_name("llm-sandbox")
        if program.is_file():
            return ServerCommand((str(program), *words))
        return ServerCommand((sys.executable, "-m", "llm_sandbox", *words))

    def entry(self) -> dict[str, Any]:
        """Return the command as most clients expect it."""
        return {"command": self.argv[0], "args": list(self.argv[1:])}


@dataclass(frozen=True)
class Endpoint:
    """Address of a running server."""

    url: str
    """URL of the server."""
    token_variable: str | None
    """Environment variable of the client with the token to send; None for no token."""

    def entry(self, key: str, variable: str, **more: str) -> dict[str, Any]:
        """Return the address as a client expects it.

        Args:
            key: Key of the address in the client's format.
            variable: Syntax of an environment variable in the client's format, with ``{}`` for its
                name.
            more: Settings before the address.
        """
        entry: dict[str, Any] = {**more, key: self.url}
        if self.token_variable is not None:
            token = variable.replace("{}", self.token_variable)
            entry["headers"] = {"Authorization": f"Bearer {token}"}
        return entry


def configuration(server: ServerCommand | Endpoint, timeout_s: float) -> str:
    """Return the configuration for each client, one complete block after another.

    Args:
        server: The server.
        timeout_s: Longest call in seconds, which clients have to wait for.
    """
    blocks = _of_command(server) if isinstance(server, ServerCommand) else _of_endpoint(server)
    shown = [f"# {where}\n\n{_json(content)}" for where, content in blocks]
    shown.append(f"# Codex: ~/.codex/config.toml\n\n{_codex(server, timeout_s)}")
    return "\n\n".join(shown)


def _of_command(server: ServerCommand) -> list[tuple[str, Mapping[str, Any]]]:
    entry = server.entry()
    places = (
        "Claude Desktop: claude_desktop_config.json (Settings, Developer, Edit Config)",
        "Claude Code: .mcp.json",
        "Cursor: .cursor/mcp.json, or ~/.cursor/mcp.json",
        "Windsurf: ~/.codeium/windsurf/mcp_config.json",
        "Gemini CLI: ~/.gemini/settings.json",
    )
    return [
        ("\n# ".join(places), {"mcpServers": {_NAME: entry}}),
        ("VS Code: .vscode/mcp.json", {"servers": {_NAME: {"type": "stdio", **entry}}}),
        ("Zed: settings.json", {"context_servers": {_NAME: {"source": "custom", **entry}}}),
    ]


def _of_endpoint(server: Endpoint) -> list[tuple[str, Mapping[str, Any]]]:
    def block(key: str, variable: str, **more: str) -> dict[str, Any]:
        return {"mcpServers": {_NAME: server.entry(key, variable, **more)}}

    code = server.entry("url", "${env:{}}", type="http")
    return [
        ("Claude Code: .mcp.json", block("url", "${{}}", type="http")),
        ("Cursor: .cursor/mcp.json, or ~/.cursor/mcp.json", block("url", "${env:{}}")),
        ("VS Code: .vscode/mcp.json", {"servers": {_NAME: code}}),
        ("Windsurf: ~/.codeium/windsurf/mcp_config.json", block("serverUrl", "${env:{}}")),
        ("Gemini CLI: ~/.gemini/settings.json", block("httpUrl", "${}")),
    ]


def _codex(server: ServerCommand | Endpoint, timeout_s: float) -> str:
    # A string of JSON is one of TOML, too.
    lines = [f"[mcp_servers.{_NAME}]"]
    if isinstance(server, ServerCommand):
        lines.append(f"command = {_toml(server.argv[0])}")
        lines.append(f"args = [{', '.join(map(_toml, server.argv[1:]))}]")
        lines.append(f"startup_timeout_sec = {_START_S}")
    else:
        lines.append(f"url = {_toml(server.url)}")
        if server.token_variable is not None:
            lines.append(f"bearer_token_env_var = {_toml(server.token_variable)}")
    lines.append(f"tool_timeout_sec = {int(timeout_s) + _SLACK_S}")
    return "\n".join(lines)


def _json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False)


def _toml(text: str) -> str:
    # TOML knows no surrogates, and wants DEL escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
