"""What clients of the Model Context Protocol have to be told, each in its own format."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Command", "Endpoint", "configuration"]

_NAME = "llm-sandbox"
_START_S = 60
_SLACK_S = 30


@dataclass(frozen=True)
class Command:
    """A server that clients start."""

    argv: Sequence[str]
    """Its words."""

    @staticmethod
    def of(words: Sequence[str]) -> "Command":
        """Return the command of this installation, wherever a client is started.

        Args:
            words: What stands behind the program's name.
        """
        program = Path(sys.executable).with_name("llm-sandbox")
        if program.is_file():
            return Command((str(program), *words))
        return Command((sys.executable, "-m", "llm_sandbox", *words))

    def entry(self) -> dict[str, Any]:
        """Return it as most clients take it."""
        return {"command": self.argv[0], "args": list(self.argv[1:])}


@dataclass(frozen=True)
class Endpoint:
    """A server that is there already."""

    url: str
    """Where."""
    token_variable: str | None
    """Environment variable of the client with the token to send; None for none."""

    def entry(self, key: str, variable: str, **more: str) -> dict[str, Any]:
        """Return it as a client takes it.

        Args:
            key: What the client calls the address.
            variable: How the client writes an environment variable, with ``{}`` for its name.
            more: Settings before the address.
        """
        entry: dict[str, Any] = {**more, key: self.url}
        if self.token_variable is not None:
            token = variable.replace("{}", self.token_variable)
            entry["headers"] = {"Authorization": f"Bearer {token}"}
        return entry


def configuration(server: Command | Endpoint, timeout_s: float) -> str:
    """Return what each client is told, one block after another, each whole.

    Args:
        server: The server.
        timeout_s: The most seconds of one call, which clients have to wait for.
    """
    blocks = _of_command(server) if isinstance(server, Command) else _of_endpoint(server)
    shown = [f"# {where}\n\n{_json(content)}" for where, content in blocks]
    shown.append(f"# Codex: ~/.codex/config.toml\n\n{_codex(server, timeout_s)}")
    return "\n\n".join(shown)


def _of_command(server: Command) -> list[tuple[str, Mapping[str, Any]]]:
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


def _codex(server: Command | Endpoint, timeout_s: float) -> str:
    # A string of JSON is one of TOML, too.
    lines = [f"[mcp_servers.{_NAME}]"]
    if isinstance(server, Command):
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
