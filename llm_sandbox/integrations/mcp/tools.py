"""Tools of the server."""

import base64
import binascii
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

import anyio
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult
from pydantic import Field

from llm_sandbox.data import ExecutionResult, ProcessResult
from llm_sandbox.exceptions import SandboxTimeoutError
from llm_sandbox.integrations.mcp.access import SandboxAccess, client_errors
from llm_sandbox.integrations.mcp.options import ServerOptions
from llm_sandbox.integrations.mcp.results import (
    artifact_uri,
    binary_result,
    mime_of,
    process_result,
    run_result,
    shown_name,
    words,
)
from llm_sandbox.integrations.mcp.roots import RootMounts, Roots
from llm_sandbox.integrations.output_reader import (
    ABOUT_HANDLE,
    ABOUT_LIMIT,
    ABOUT_OFFSET,
    LONGEST_PAGE,
    PAGE,
    read_page,
)
from llm_sandbox.integrations.tool import DEFAULT_READER, answer_async
from llm_sandbox.results.outputs import Output, StreamOutput

__all__ = ["Tools"]

_EVERY_S = 1.0
_LONGEST = 200


class _Progress:
    """Progress reports of a run: elapsed time and last printed line.

    Args:
        context: Context of the call.
    """

    def __init__(self, context: Context[object, object]) -> None:
        self._context = context
        self._started = time.monotonic()
        self._line = ""

    def take(self, output: Output) -> None:
        """Receive output of a run; called in a worker thread."""
        if isinstance(output, StreamOutput):
            self.take_text(output.text)

    def take_text(self, text: str) -> None:
        """Receive output of a command; called in a worker thread."""
        lines = text.strip().splitlines()
        if lines:
            # trust: shown as a line of text, cut.
            self._line = lines[-1][:_LONGEST]

    async def report(self) -> None:
        """Send one report, if the client requested progress."""
        seconds = time.monotonic() - self._started
        await self._context.report_progress(round(seconds, 1), None, self._line or None)


@asynccontextmanager
async def _reporting(context: Context[object, object]) -> AsyncIterator[_Progress]:
    """Report progress every second during the ``with`` block."""
    progress = _Progress(context)

    async def tick() -> None:
        while True:
            await anyio.sleep(_EVERY_S)
            await progress.report()

    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(tick)
        try:
            yield progress
        except Exception as error:  # noqa: BLE001 - a task group would put it into a group
            failure = error
        finally:
            tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure


_LARGEST_READ = 8 << 20

_Call = Context[Any, Any]
_Session = Annotated[
    str | None,
    Field(description="a session that an earlier answer named; leave out for your own"),
]
_Language = Annotated[
    str | None, Field(description="language of the code; leave out for the first")
]
_Timeout = Annotated[
    float | None,
    Field(description="seconds after which it is stopped, instead of the usual", gt=0, le=86_400),
]
_Path = Annotated[str, Field(description="path in the sandbox, from its working directory")]
_Offset = Annotated[int, Field(description=ABOUT_OFFSET, ge=0)]
_Encoding = Literal["text", "base64"]


class Tools:
    """Tools, whose docstrings are their descriptions for clients.

    Args:
        access: Access to the sandboxes.
        options: Options of the sandboxes.
    """

    def __init__(self, access: SandboxAccess, options: ServerOptions) -> None:
        self._access = access
        self._sessions = access.sessions
        self._options = options
        self._reader = options.tool.reader

    async def run_code(
        self,
        code: Annotated[str, Field(description="source text")],
        context: _Call,
        roots: Roots,
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
        seconds, notes = self._seconds(timeout)
        async with (
            _reporting(context) as progress,
            self._access.acquire(context, session, roots, language) as held,
        ):

            async def run() -> ExecutionResult:
                async with self._sessions.using(held) as opened:
                    return await opened.run(
                        code, libraries, seconds, stdin=stdin, on_output=progress.take
                    )

            reply = await answer_async(run, self._options.tool, reader=self._reader)
            return run_result(held, reply, notes)

    async def run_command(
        self,
        command: Annotated[str, Field(description="a line for the shell")],
        context: _Call,
        roots: Roots,
        timeout: _Timeout = None,  # noqa: ASYNC109 - a parameter of the tool
        session: _Session = None,
    ) -> CallToolResult:
        """Run a shell command in the sandbox and return its exit code and output."""
        seconds, notes = self._seconds(timeout)
        async with (
            _reporting(context) as progress,
            self._access.acquire(context, session, roots) as held,
        ):
            try:
                async with self._sessions.using(held) as opened:
                    done = await opened.execute_command(
                        command,
                        on_stdout=progress.take_text,
                        on_stderr=progress.take_text,
                        timeout=seconds,
                    )
            except SandboxTimeoutError as error:
                if not isinstance(error.result, ProcessResult):
                    return words(f"{error.message}; it was stopped", held)
                return process_result(held, error.result, notes)
            return process_result(held, done, notes)

    async def read_output(
        self,
        handle: Annotated[str, Field(description=ABOUT_HANDLE)],
        context: _Call,
        offset: _Offset = 0,
        limit: Annotated[int, Field(description=ABOUT_LIMIT, ge=1)] = PAGE,
        session: _Session = None,
    ) -> CallToolResult:
        """Read what an answer of run_code left out: long output, tables, texts. Runs nothing."""
        async with self._access.find_existing(context, session) as held:
            name = self._reader or DEFAULT_READER
            return words(read_page(held.session.history, handle, offset, limit, name=name), held)

    async def install(
        self,
        libraries: Annotated[list[str], Field(description="names, with versions if need be")],
        context: _Call,
        roots: Roots,
        session: _Session = None,
        language: _Language = None,
    ) -> CallToolResult:
        """Install libraries into the sandbox."""
        async with (
            _reporting(context),
            self._access.acquire(context, session, roots, language) as held,
        ):
            async with self._sessions.using(held) as opened:
                await opened.install(libraries)
            return words(f"installed: {', '.join(libraries)}", held)

    async def list_files(
        self, context: _Call, roots: Roots, path: _Path = ".", session: _Session = None
    ) -> CallToolResult:
        """List a folder of the sandbox."""
        async with self._access.acquire(context, session, roots) as held:
            async with self._sessions.using(held) as opened:
                entries = await opened.sandbox.files.list(path)
            lines = [f"{e.kind:9} {e.size:>10}  {shown_name(e.name)}" for e in entries]
            return words("\n".join(lines) or "the folder is empty", held)

    async def read_file(
        self,
        path: _Path,
        context: _Call,
        roots: Roots,
        offset: _Offset = 0,
        limit: Annotated[
            int, Field(description="characters of a text to return, at most", ge=1, le=1 << 20)
        ] = LONGEST_PAGE,
        session: _Session = None,
    ) -> CallToolResult:
        """Read a file of the sandbox: text as text, pictures to be seen, others as a resource."""
        async with self._access.acquire(context, session, roots) as held:
            async with self._sessions.using(held) as opened:
                data = await opened.sandbox.files.read_bytes(path, _LARGEST_READ)
            text = _text_of(path, data)
            if text is None:
                return binary_result(held, path, data)
            page = text[offset : offset + limit]
            left = len(text) - offset - len(page)
            if left > 0:
                page += f"\n[{left:,} more characters; offset={offset + limit} goes on]"
            return words(page, held)

    async def write_file(
        self,
        path: _Path,
        content: Annotated[str, Field(description="the whole text, or bytes as base64")],
        context: _Call,
        roots: Roots,
        encoding: Annotated[_Encoding, Field(description="what content is")] = "text",
        append: Annotated[bool, Field(description="add to the end of what is there")] = False,
        session: _Session = None,
    ) -> CallToolResult:
        """Write a file into the sandbox, over what is there, and make the folders on the way."""
        data = _bytes_of(content, encoding)
        async with self._access.acquire(context, session, roots) as held:
            async with self._sessions.using(held) as opened:
                await opened.sandbox.files.write_bytes(path, data, append=append)
            verb = "added to" if append else "wrote"
            return words(f"{verb} {shown_name(path)}: {len(data):,} bytes", held)

    async def list_artifacts(self, context: _Call, session: _Session = None) -> CallToolResult:
        """List what the runs of a session have made: figures, tables and files."""
        async with self._access.find_existing(context, session) as held:
            made = [artifact for run in held.session.history for artifact in run.result.artifacts]
            lines = [
                f"{artifact_uri(held.id, artifact.id)}  {artifact.describe()}" for artifact in made
            ]
            return words("\n".join(lines) or "nothing has been made yet", held)

    async def create_session(
        self, context: _Call, roots: Roots, language: _Language = None
    ) -> CallToolResult:
        """Make a sandbox of your own beside others; it has to be named in later calls."""
        with client_errors():
            async with _reporting(context):
                held = await self._sessions.create(
                    self._access.caller(context), language, root_mounts=RootMounts.of(roots)
                )
        news = held.take_news()
        return words("\n".join([f"session: {held.id}", *news]))

    async def close_session(
        self,
        session: Annotated[str, Field(description="the session")],
        context: _Call,
    ) -> CallToolResult:
        """End a sandbox and everything in it."""
        with client_errors():
            held = self._sessions.find(session, self._access.caller(context))
            await self._sessions.end(held, "it was closed")
        return words("closed")

    def _seconds(self, asked: float | None) -> tuple[float | None, list[str]]:
        """Return the timeout of a call, and a note for the client if it was reduced."""
        most = self._options.tool.timeout
        if asked is None or most is None or asked <= most:
            return asked or most, []
        note = f"timeout: {asked:g} seconds were asked for, and this server gives {most:g} at most"
        return most, [f"{note} (llm-sandbox mcp --timeout ...)"]


def _text_of(path: str, data: bytes) -> str | None:
    """Return the content of a file as text; None if it is binary."""
    # trust: a file from inside.
    if b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        is_text = mime_of(path).startswith("text/")
        return data.decode("utf-8", "backslashreplace") if is_text else None


def _bytes_of(content: str, encoding: _Encoding) -> bytes:
    try:
        return (
            base64.b64decode(content, validate=True) if encoding == "base64" else content.encode()
        )
    except (binascii.Error, ValueError) as error:
        raise ToolError(f"content is not valid {encoding}: {error}") from None
