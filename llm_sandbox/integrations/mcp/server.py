"""The server: tools that run code and commands, and resources that are what they made."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from llm_sandbox.const import VERSION
from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import ArtifactNotFoundError, SandboxError, SandboxTimeoutError
from llm_sandbox.integrations.mcp.options import ServerOptions
from llm_sandbox.integrations.mcp.progress import telling
from llm_sandbox.integrations.mcp.results import process_result, run_result, words
from llm_sandbox.integrations.mcp.sessions import Held, Sessions
from llm_sandbox.integrations.tool import answer_async

__all__ = ["make_server"]

_LARGEST_READ = 1 << 20
_HEADER = "mcp-session-id"

_Session = Annotated[
    str | None,
    Field(description="a session that an earlier answer named; leave out for your own"),
]
_Language = Annotated[
    str | None, Field(description="language of the code; leave out for the first")
]
_Timeout = Annotated[
    float | None, Field(description="seconds after which it is stopped", gt=0, le=86_400)
]
_Path = Annotated[str, Field(description="path in the sandbox, from its working directory")]


def make_server(options: ServerOptions | None = None, *, one_client: bool = True) -> MCPServer[Any]:
    """Return a server that is not running yet.

    Args:
        options: What its sandboxes are like.
        one_client: Whether all calls come from one client, as over standard input and output: it
            then need not name its session.
    """
    chosen = options or ServerOptions()
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
    tools = _Tools(sessions, chosen, one_client=one_client)
    closed = chosen.network == "blocked"
    changes = ToolAnnotations(
        read_only_hint=False, destructive_hint=False, open_world_hint=not closed
    )
    reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    for function, annotations in (
        (tools.run_code, changes),
        (tools.run_command, changes),
        (tools.list_files, reads),
        (tools.read_file, reads),
        (tools.write_file, changes),
        (tools.list_artifacts, reads),
        (tools.create_session, changes),
        (tools.close_session, changes),
    ):
        server.tool(annotations=annotations, structured_output=False)(function)
    if chosen.installs:
        server.tool(annotations=changes, structured_output=False)(tools.install)
    server.resource(
        "sandbox://{session}/artifacts/{artifact}",
        name="artifact",
        description="What a run made: a figure, a table or a file.",
        mime_type="application/octet-stream",
    )(tools.artifact)
    return server


def _instructions(options: ServerOptions) -> str:
    network = "no network" if options.network == "blocked" else "the network"
    return (
        f"Runs {', '.join(options.languages)} in sandboxes with {network}. Variables and files are "
        "kept from call to call. Figures come back as images; whatever a run makes is a resource."
    )


class _Tools:
    """The tools; what their docstrings say is what clients read.

    Args:
        sessions: Where they run.
        options: What the sandboxes are like.
        one_client: Whether there is one client.
    """

    def __init__(self, sessions: Sessions, options: ServerOptions, *, one_client: bool) -> None:
        self._sessions = sessions
        self._options = options
        self._one_client = one_client

    async def run_code(
        self,
        code: Annotated[str, Field(description="source text")],
        context: Context[Any, Any],
        language: _Language = None,
        libraries: Annotated[
            list[str] | None, Field(description="libraries to install first")
        ] = None,
        timeout: _Timeout = None,  # noqa: ASYNC109 - a parameter of the tool
        stdin: Annotated[str | None, Field(description="what the code reads as input")] = None,
        session: _Session = None,
    ) -> CallToolResult:
        """Run code and return what it printed, its error, its figures and what it made."""
        held = await self._held(context, session, language)
        if libraries and not self._options.installs:
            raise ToolError("this server installs no libraries")

        async def run() -> ExecutionResult:
            async with telling(context) as progress, self._sessions.using(held) as opened:
                return await opened.run(
                    code, libraries, self._seconds(timeout), stdin=stdin, on_output=progress.hear
                )

        with _told():
            return run_result(held, await answer_async(run, self._options.tool))

    async def run_command(
        self,
        command: Annotated[str, Field(description="a line for the shell")],
        context: Context[Any, Any],
        timeout: _Timeout = None,  # noqa: ASYNC109 - a parameter of the tool
        session: _Session = None,
    ) -> CallToolResult:
        """Run a shell command in the sandbox and return its exit code and output."""
        held = await self._held(context, session, None)
        with _told():
            try:
                async with telling(context), self._sessions.using(held) as opened:
                    done = await opened.execute_command(command, timeout=self._seconds(timeout))
            except SandboxTimeoutError as error:
                return words(f"{error.message}; it was stopped")
            return process_result(held, done)

    async def install(
        self,
        libraries: Annotated[list[str], Field(description="names, with versions if need be")],
        context: Context[Any, Any],
        session: _Session = None,
        language: _Language = None,
    ) -> CallToolResult:
        """Install libraries into the sandbox."""
        held = await self._held(context, session, language)
        with _told():
            async with telling(context), self._sessions.using(held) as opened:
                await opened.install(libraries)
        return words(f"installed: {', '.join(libraries)}")

    async def list_files(
        self, context: Context[Any, Any], path: _Path = ".", session: _Session = None
    ) -> CallToolResult:
        """List a folder of the sandbox."""
        held = await self._held(context, session, None)
        with _told():
            async with self._sessions.using(held) as opened:
                entries = await opened.sandbox.files.list(path)
        lines = [f"{entry.kind:9} {entry.size:>10}  {entry.name}" for entry in entries]
        return words("\n".join(lines) or "the folder is empty")

    async def read_file(
        self, path: _Path, context: Context[Any, Any], session: _Session = None
    ) -> CallToolResult:
        """Read a text file of the sandbox, up to 1 MiB."""
        held = await self._held(context, session, None)
        with _told():
            async with self._sessions.using(held) as opened:
                data = await opened.sandbox.files.read_bytes(path, _LARGEST_READ)
        return words(data.decode("utf-8", "backslashreplace"))

    async def write_file(
        self,
        path: _Path,
        content: Annotated[str, Field(description="the whole text")],
        context: Context[Any, Any],
        session: _Session = None,
    ) -> CallToolResult:
        """Write a text file into the sandbox, over what is there."""
        held = await self._held(context, session, None)
        with _told():
            async with self._sessions.using(held) as opened:
                await opened.sandbox.files.write_text(path, content)
        return words(f"wrote {path}")

    async def list_artifacts(
        self, context: Context[Any, Any], session: _Session = None
    ) -> CallToolResult:
        """List what the runs of a session have made: figures, tables and files."""
        held = await self._held(context, session, None)
        made = [artifact for entry in held.session.history for artifact in entry.result.artifacts]
        lines = [f"{artifact.id}  {artifact.describe()}" for artifact in made]
        return words("\n".join(lines) or "nothing has been made yet")

    async def create_session(self, language: _Language = None) -> CallToolResult:
        """Make a sandbox of your own beside others; it has to be named in later calls."""
        with _told():
            held = await self._sessions.create(language)
        return words(f"session: {held.id}")

    async def close_session(
        self, session: Annotated[str, Field(description="the session")]
    ) -> CallToolResult:
        """End a sandbox and everything in it."""
        with _told():
            await self._sessions.close(session)
        return words("closed")

    async def artifact(self, session: str, artifact: str) -> bytes:
        """Return what a run made, for the resource that names it."""
        try:
            found = await self._sessions.find(session).session.artifact(artifact)
            return found.bytes()
        except (SandboxError, ArtifactNotFoundError) as error:
            raise ResourceError(str(error)) from None

    async def _held(
        self, context: Context[Any, Any], session: str | None, language: str | None
    ) -> Held:
        with _told():
            if session is not None:
                return self._sessions.find(session)
            client = "one" if self._one_client else (context.headers or {}).get(_HEADER)
            return await self._sessions.default(client, language)

    def _seconds(self, asked: float | None) -> float | None:
        most = self._options.tool.timeout
        given = [seconds for seconds in (asked, most) if seconds is not None]
        return min(given) if given else None


@contextmanager
def _told() -> Iterator[None]:
    """Tell a client the library's errors, which say what to do next."""
    try:
        yield
    except SandboxError as error:
        hint = f" ({error.hint})" if error.hint else ""
        raise ToolError(f"{error.message}{hint}") from None
