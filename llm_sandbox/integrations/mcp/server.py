"""The server: tools that run code and commands, and resources that are what they made."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp_types import CallToolResult, ToolAnnotations
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import Field

from llm_sandbox.const import VERSION
from llm_sandbox.data import ExecutionResult, ProcessResult
from llm_sandbox.exceptions import ArtifactNotFoundError, SandboxError, SandboxTimeoutError
from llm_sandbox.integrations.mcp.options import ServerOptions
from llm_sandbox.integrations.mcp.progress import telling
from llm_sandbox.integrations.mcp.results import artifact_uri, process_result, run_result, words
from llm_sandbox.integrations.mcp.sessions import Held, Sessions
from llm_sandbox.integrations.tool import answer_async

__all__ = ["SESSION_HEADER", "build_server", "make_server"]

SESSION_HEADER = "mcp-session-id"
"""The HTTP header that names a client's session, in the protocol that has sessions."""

_LARGEST_READ = 1 << 20

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
    return build_server(options or ServerOptions(), one_client=one_client)[0]


def build_server(chosen: ServerOptions, *, one_client: bool) -> tuple[MCPServer[Any], Sessions]:
    """Return a server that is not running yet, and the sandboxes that it will have.

    Args:
        chosen: What its sandboxes are like.
        one_client: As `make_server`.
    """
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
    return server, sessions


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
        if libraries and not self._options.installs:
            raise ToolError("this server installs no libraries")
        async with telling(context) as progress, self._lent(context, session, language) as held:

            async def run() -> ExecutionResult:
                async with self._sessions.using(held) as opened:
                    return await opened.run(
                        code,
                        libraries,
                        self._seconds(timeout),
                        stdin=stdin,
                        on_output=progress.hear,
                    )

            return run_result(held, await answer_async(run, self._options.tool))

    async def run_command(
        self,
        command: Annotated[str, Field(description="a line for the shell")],
        context: Context[Any, Any],
        timeout: _Timeout = None,  # noqa: ASYNC109 - a parameter of the tool
        session: _Session = None,
    ) -> CallToolResult:
        """Run a shell command in the sandbox and return its exit code and output."""
        async with telling(context) as progress, self._lent(context, session) as held:
            try:
                async with self._sessions.using(held) as opened:
                    done = await opened.execute_command(
                        command,
                        on_stdout=progress.hear_text,
                        on_stderr=progress.hear_text,
                        timeout=self._seconds(timeout),
                    )
            except SandboxTimeoutError as error:
                if not isinstance(error.result, ProcessResult):
                    return words(f"{error.message}; it was stopped", held)
                return process_result(held, error.result)
            return process_result(held, done)

    async def install(
        self,
        libraries: Annotated[list[str], Field(description="names, with versions if need be")],
        context: Context[Any, Any],
        session: _Session = None,
        language: _Language = None,
    ) -> CallToolResult:
        """Install libraries into the sandbox."""
        async with telling(context), self._lent(context, session, language) as held:
            async with self._sessions.using(held) as opened:
                await opened.install(libraries)
            return words(f"installed: {', '.join(libraries)}", held)

    async def list_files(
        self, context: Context[Any, Any], path: _Path = ".", session: _Session = None
    ) -> CallToolResult:
        """List a folder of the sandbox."""
        async with self._lent(context, session, reads=True) as held:
            async with self._sessions.using(held) as opened:
                entries = await opened.sandbox.files.list(path)
            lines = [f"{entry.kind:9} {entry.size:>10}  {entry.name}" for entry in entries]
            return words("\n".join(lines) or "the folder is empty", held)

    async def read_file(
        self, path: _Path, context: Context[Any, Any], session: _Session = None
    ) -> CallToolResult:
        """Read a text file of the sandbox, up to 1 MiB."""
        async with self._lent(context, session, reads=True) as held:
            async with self._sessions.using(held) as opened:
                data = await opened.sandbox.files.read_bytes(path, _LARGEST_READ)
            # trust: whatever does not decode is shown as an escape.
            return words(data.decode("utf-8", "backslashreplace"), held)

    async def write_file(
        self,
        path: _Path,
        content: Annotated[str, Field(description="the whole text")],
        context: Context[Any, Any],
        session: _Session = None,
    ) -> CallToolResult:
        """Write a text file into the sandbox, over what is there."""
        async with self._lent(context, session) as held:
            async with self._sessions.using(held) as opened:
                await opened.sandbox.files.write_text(path, content)
            return words(f"wrote {path}", held)

    async def list_artifacts(
        self, context: Context[Any, Any], session: _Session = None
    ) -> CallToolResult:
        """List what the runs of a session have made: figures, tables and files."""
        async with self._lent(context, session, reads=True) as held:
            runs = held.session.history
            made = [artifact for entry in runs for artifact in entry.result.artifacts]
            lines = [
                f"{artifact_uri(held.id, artifact.id)}  {artifact.describe()}" for artifact in made
            ]
            return words("\n".join(lines) or "nothing has been made yet", held)

    async def create_session(
        self, context: Context[Any, Any], language: _Language = None
    ) -> CallToolResult:
        """Make a sandbox of your own beside others; it has to be named in later calls."""
        with _told():
            async with telling(context):
                held = await self._sessions.create(self._client(context), language)
        held.was_named = True
        return words(f"session: {held.id}")

    async def close_session(
        self,
        session: Annotated[str, Field(description="the session")],
        context: Context[Any, Any],
    ) -> CallToolResult:
        """End a sandbox and everything in it."""
        with _told():
            await self._sessions.end(self._sessions.find(session, self._client(context)))
        return words("closed")

    async def artifact(self, session: str, artifact: str, context: Context[Any, Any]) -> bytes:
        """Return what a run made, for the resource that names it."""
        try:
            held = self._sessions.find(session, self._client(context))
            found = await held.session.artifact(artifact)
            return found.bytes()
        except (SandboxError, ArtifactNotFoundError) as error:
            raise ResourceError(str(error)) from None

    @asynccontextmanager
    async def _lent(
        self,
        context: Context[Any, Any],
        session: str | None,
        language: str | None = None,
        *,
        reads: bool = False,
    ) -> AsyncIterator[Held]:
        """Have a call's sandbox while the body runs, and tell the client what goes wrong.

        Args:
            context: The call.
            session: The sandbox that it names; None for the client's own.
            language: The language that it asks for; None for any.
            reads: Whether there is no use in a fresh one.
        """
        client = self._client(context)
        with _told():
            if session is not None:
                yield self._sessions.find(session, client, language)
            elif client is not None:
                yield await self._sessions.default(client, language)
            elif reads:
                raise ToolError("name the session: each answer of run_code and others has it")
            else:
                held = await self._sessions.create(None, language)
                try:
                    yield held
                except BaseException:
                    # Nobody will hear its name.
                    await self._sessions.end(held)
                    raise

    def _client(self, context: Context[Any, Any]) -> str | None:
        """What stands for a client from call to call; None where nothing does."""
        if self._one_client:
            return "one"
        if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            # There the header means nothing: anybody may write anything into it.
            return None
        return (context.headers or {}).get(SESSION_HEADER)

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
