"""Tool results for clients: text and images, structured facts, links to other artifacts."""

import base64
import mimetypes
import posixpath
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from mcp_types import (
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
)

from llm_sandbox.artifacts.artifact import Artifact, human_size
from llm_sandbox.artifacts.formats.images import image_type
from llm_sandbox.data import ExecutionResult, ProcessResult
from llm_sandbox.integrations.mcp.sessions import ClientSandbox
from llm_sandbox.integrations.tool import ToolReply
from llm_sandbox.views.sanitize import one_line

__all__ = [
    "BINARY",
    "artifact_link",
    "artifact_uri",
    "binary_result",
    "file_uri",
    "mime_of",
    "process_result",
    "run_result",
    "shown_name",
    "words",
]

BINARY = "application/octet-stream"

_MOST_LINKS = 50
_MOST_TEXT = 20_000
_LARGEST_PICTURE = 3_500_000
_LARGEST_EMBEDDED = 1 << 20
_PARAMETER = re.compile(r"Limits\((\w+)=[^)]*\)|network=(?:'\w+'|NetworkRules\S*)")
_OPTIONS = {"memory_bytes": "--memory", None: "--network"}


def artifact_uri(session: str, artifact: str) -> str:
    """Return the resource URI of an artifact."""
    return f"sandbox://{session}/artifacts/{quote(artifact, safe='')}"


def file_uri(session: str, path: str) -> str:
    """Return the resource URI of a file."""
    # trust: a name from inside, which may hold any bytes.
    return f"sandbox://{session}/files/{quote(path, errors='surrogateescape')}"


def mime_of(path: str) -> str:
    """Return the MIME type for a file name."""
    return mimetypes.guess_type(posixpath.basename(path))[0] or BINARY


def shown_name(name: str) -> str:
    """Return a file name as one line of sanitised text."""
    # trust: bytes that are no text would be no JSON, either.
    return one_line(name.encode("utf-8", "backslashreplace").decode())


def words(text: str, held: ClientSandbox | None = None) -> CallToolResult:
    """Return a result with a sentence.

    Args:
        text: Text of the result.
        held: Sandbox to name in the result.
    """
    said = TextContent(type="text", text=text)
    return CallToolResult(content=[said]) if held is None else _result(held, [said])


def run_result(held: ClientSandbox, reply: ToolReply, notes: Sequence[str] = ()) -> CallToolResult:
    """Return the result of code. A failed program is not a tool error; refused code is.

    Args:
        held: Sandbox of the run.
        reply: Answer of the run.
        notes: Notes of the server.
    """
    facts: dict[str, Any] = {}
    result = reply.result
    links: list[ContentBlock] = []
    if result is not None:
        result = _told(result)
        reply = replace(reply, result=result)
        facts = {
            "status": str(result.status),
            "exit_code": result.exit_code,
            "timed_out": result.timed_out,
            "error": result.error.to_dict() if result.error else None,
            "value": result.value,
            "artifacts": [
                {
                    "id": artifact.id,
                    "name": artifact.name,
                    "type": str(artifact.type),
                    "mime": artifact.mime,
                    "size": artifact.size,
                    "uri": artifact_uri(held.id, artifact.id),
                }
                for artifact in result.artifacts[:_MOST_LINKS]
            ],
        }
        links += [
            artifact_link(held, artifact)
            for artifact in result.artifacts[:_MOST_LINKS]
            if artifact.content is not None
        ]
    content = [*_texts(notes), *(_content(part) for part in reply.parts("mcp")), *links]
    return _result(held, content, facts, is_error=result is None)


def artifact_link(held: ClientSandbox, artifact: Artifact) -> ResourceLink:
    """Return a resource link to an artifact."""
    return ResourceLink(
        type="resource_link",
        uri=artifact_uri(held.id, artifact.id),
        name=shown_name(artifact.name),
        description=artifact.describe(),
        mime_type=artifact.mime,
        size=artifact.size,
    )


def process_result(
    held: ClientSandbox, done: ProcessResult, notes: Sequence[str] = ()
) -> CallToolResult:
    """Return the result of a command.

    Args:
        held: Sandbox of the run.
        done: Result of the process.
        notes: Notes of the server.
    """
    streams = {"stdout": done.stdout, "stderr": done.stderr}
    text = [f"exit code {done.exit_code}{', stopped: its time was up' if done.timed_out else ''}"]
    text += [f"{name}:\n{_clipped(value)}" for name, value in streams.items() if value]
    facts = {
        "exit_code": done.exit_code,
        "timed_out": done.timed_out,
        **{name: _clipped(value) for name, value in streams.items()},
    }
    return _result(held, [*_texts(notes), *_texts(["\n".join(text)])], facts)


def binary_result(held: ClientSandbox, path: str, data: bytes) -> CallToolResult:
    """Return the result for a binary file: an image, or an embedded resource.

    Args:
        held: Sandbox of the file.
        path: Path of the file.
        data: Content of the file.
    """
    # trust: a file from inside. What it claims to be is believed only as far as its first bytes go.
    picture, mime, uri = image_type(data), mime_of(path), file_uri(held.id, path)
    about = f"{shown_name(path)}: {picture or mime}, {human_size(len(data))}"
    if picture and len(data) <= _LARGEST_PICTURE:
        encoded = base64.b64encode(data).decode()
        shown: ContentBlock = ImageContent(type="image", data=encoded, mime_type=picture)
    elif len(data) <= _LARGEST_EMBEDDED:
        blob = BlobResourceContents(uri=uri, mime_type=mime, blob=base64.b64encode(data).decode())
        shown = EmbeddedResource(type="resource", resource=blob)
    else:
        about += "; too large to be sent here, the resource has it"
        name = shown_name(posixpath.basename(path))
        shown = ResourceLink(
            type="resource_link", uri=uri, name=name, mime_type=mime, size=len(data)
        )
    return _result(held, [*_texts([about]), shown], {"uri": uri})


def _result(
    held: ClientSandbox,
    content: Sequence[ContentBlock],
    facts: dict[str, Any] | None = None,
    *,
    is_error: bool = False,
) -> CallToolResult:
    """Return a result that names its session, after news about ended sessions."""
    name = f"session: {held.id}"
    if not held.is_claimed:
        name += f' - pass session="{held.id}" in every further call: it holds what was made here'
    return CallToolResult(
        content=[*_texts(held.take_news()), *content, *_texts([name])],
        structured_content={"session": held.id, **(facts or {})},
        is_error=is_error,
    )


def _told(result: ExecutionResult) -> ExecutionResult:
    """Return the result with the names of server options in its notes in place of Python
    parameters.
    """
    return replace(result, notes=tuple(_PARAMETER.sub(_option, note) for note in result.notes))


def _option(found: re.Match[str]) -> str:
    option = _OPTIONS.get(found[1])
    if option is None:
        return "a setting of this server, which no call has,"
    return f"the option {option} of this server (llm-sandbox mcp {option} ...)"


def _texts(said: Sequence[str]) -> list[ContentBlock]:
    return [TextContent(type="text", text=text) for text in said]


def _content(part: dict[str, Any]) -> TextContent | ImageContent:
    if part["type"] == "image":
        return ImageContent(type="image", data=part["data"], mime_type=part["mimeType"])
    return TextContent(type="text", text=part["text"])


def _clipped(text: str) -> str:
    if len(text) <= _MOST_TEXT:
        return text
    half = _MOST_TEXT // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[-half:]}"
