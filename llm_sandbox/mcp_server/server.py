"""MCP server with ``execute_code``, ``get_supported_languages``, ``get_language_details``."""

import json
import sys
from typing import Annotated, Any

from pydantic import Field

from llm_sandbox.const import VERSION, SupportedLanguage
from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import SandboxError, SandboxTimeoutError
from llm_sandbox.integrations.extras import require
from llm_sandbox.language_handlers.factory import LanguageHandlerFactory
from llm_sandbox.mcp_server.settings import ServerSettings

__all__ = ["execute_code", "get_language_details", "get_supported_languages", "main", "make_server"]

_PICTURES = ("image/png", "image/jpeg")


def make_server(settings: ServerSettings | None = None) -> Any:
    """Return the server, an `mcp.server.mcpserver.MCPServer` that is not running yet.

    Args:
        settings: Settings of the sandboxes; None for those of the environment.

    Raises:
        MissingDependencyError: The package ``mcp`` is not installed.
        SandboxError: The settings in the environment cannot be honoured.
    """
    require("mcp.server.mcpserver", "mcp")
    from mcp.server.mcpserver import MCPServer
    from mcp_types import CallToolResult, ImageContent, TextContent

    chosen = settings or ServerSettings.from_environment()
    chosen.check()
    server: MCPServer[Any] = MCPServer("llm-sandbox", version=VERSION, log_level="WARNING")

    async def execute(
        code: Annotated[str, Field(description="source text")],
        language: Annotated[str, Field(description="language of the code")] = "python",
        libraries: Annotated[
            list[str] | None, Field(description="libraries to install first")
        ] = None,
        timeout: Annotated[  # noqa: ASYNC109 - a parameter of the tool
            float, Field(description="seconds after which it is stopped", gt=0, le=86_400)
        ] = 30,
    ) -> CallToolResult:
        """Run code in a sandbox of its own, which is ended after it, and return what it printed
        and its figures.
        """
        facts, pictures = await execute_code(chosen, code, language, libraries, timeout)
        return CallToolResult(
            content=[
                *(ImageContent(type="image", data=data, mime_type=m) for m, data in pictures),
                TextContent(type="text", text=json.dumps(facts, indent=2)),
            ]
        )

    def languages() -> CallToolResult:
        """List the languages that code can be in."""
        text = json.dumps(get_supported_languages(), indent=2)
        return CallToolResult(content=[TextContent(type="text", text=text)])

    def details(language: Annotated[str, Field(description="the language")]) -> CallToolResult:
        """Tell what there is to know about a language."""
        text = json.dumps(get_language_details(language), indent=2)
        return CallToolResult(content=[TextContent(type="text", text=text)])

    server.tool(name="execute_code", structured_output=False)(execute)
    server.tool(name="get_supported_languages", structured_output=False)(languages)
    server.tool(name="get_language_details", structured_output=False)(details)

    @server.resource("sandbox://languages", mime_type="application/json")
    def all_details() -> str:
        """Return details of each language."""
        known = {name: get_language_details(name) for name in get_supported_languages()}
        return json.dumps(known, indent=2)

    return server


async def execute_code(
    settings: ServerSettings,
    code: str,
    language: str = "python",
    libraries: list[str] | None = None,
    timeout: float | None = 30,  # noqa: ASYNC109 - it is the code's
) -> tuple[dict[str, object], list[tuple[str, str]]]:
    """Run code in a sandbox of its own.

    Returns:
        Exit code, streams and status, and images as MIME type and base64. A failure of the sandbox
        is exit code 1 with the message on standard error.
    """
    try:
        async with settings.make_session(language) as session:
            result = await session.run(code, libraries, timeout)
    except SandboxTimeoutError as error:
        if not isinstance(error.result, ExecutionResult):
            return _failed(error), []
        result = error.result
    except SandboxError as error:
        return _failed(error), []
    facts: dict[str, object] = {
        "exit_code": result.exit_code,
        "stderr": result.stderr,
        "stdout": result.stdout,
        "status": str(result.status),
        "truncated": result.stdout_truncated or result.stderr_truncated,
        "notes": list(result.notes),
    }
    mimes = [(plot.format.mime, plot.content_base64) for plot in result.plots]
    others = [mime for mime, _ in mimes if mime not in _PICTURES]
    if others:
        facts["plots_not_shown"] = others
    return facts, [pair for pair in mimes if pair[0] in _PICTURES]


def get_supported_languages() -> list[str]:
    """Return the names of the languages that code can be in."""
    return LanguageHandlerFactory.get_supported_languages()


def get_language_details(language: str) -> dict[str, object]:
    """Return details of a language; with the only key ``error`` if it is unknown."""
    try:
        handler = LanguageHandlerFactory.create_handler(language)
    except SandboxError as error:
        return {"error": error.message}
    is_python = handler.name == SupportedLanguage.PYTHON
    needs = ("python3",) if is_python or handler.toolchain is None else handler.toolchain.programs
    return {
        "language": handler.name,
        "file_extension": handler.file_extension,
        "programs": list(needs),
        "library_installation_support": handler.is_support_library_installation,
        "visualization_support": handler.is_support_plot_detection,
        "visualization_libraries": [str(name) for name in handler.supported_plot_libraries],
    }


def _failed(error: SandboxError) -> dict[str, object]:
    return {"exit_code": 1, "stderr": str(error), "stdout": "", "status": "error", "notes": []}


def main() -> None:
    """Serve one client on standard input and output, until it disconnects."""
    try:
        server = make_server()
    except SandboxError as error:
        sys.exit(f"llm-sandbox-mcp: {error}")
    server.run("stdio")


if __name__ == "__main__":
    main()
