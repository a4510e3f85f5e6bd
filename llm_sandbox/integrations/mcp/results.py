"""What a client is told of a run: text and pictures to read, facts to compute with, links to the
rest.
"""

from typing import Any
from urllib.parse import quote

from mcp_types import CallToolResult, ImageContent, ResourceLink, TextContent

from llm_sandbox.data import ProcessResult
from llm_sandbox.integrations.mcp.sessions import Held
from llm_sandbox.integrations.tool import ToolReply

__all__ = ["artifact_uri", "process_result", "run_result", "words"]

_MOST_LINKS = 50
_MOST_TEXT = 20_000


def artifact_uri(session: str, artifact: str) -> str:
    """The address of an artifact, as a resource."""
    return f"sandbox://{session}/artifacts/{quote(artifact, safe='')}"


def words(text: str, held: Held | None = None) -> CallToolResult:
    """A result that is a sentence.

    Args:
        text: The sentence.
        held: The sandbox that it is about, which a client that cannot be known again is told.
    """
    content: list[Any] = [TextContent(type="text", text=text)]
    if held is None:
        return CallToolResult(content=content)
    if held.client is None:
        content.append(_name(held))
    return CallToolResult(content=content, structured_content={"session": held.id})


def run_result(held: Held, reply: ToolReply) -> CallToolResult:
    """What came of code. A program that fails is no error of the tool; refused code is."""
    content: list[Any] = [_content(part) for part in reply.parts("mcp")]
    facts: dict[str, Any] = {"session": held.id}
    result = reply.result
    if result is not None:
        facts |= {
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
        content += [
            ResourceLink(
                type="resource_link",
                uri=artifact_uri(held.id, artifact.id),
                name=artifact.name,
                description=artifact.describe(),
                mime_type=artifact.mime,
                size=artifact.size,
            )
            for artifact in result.artifacts[:_MOST_LINKS]
            if artifact.content is not None
        ]
    content.append(_name(held))
    return CallToolResult(content=content, structured_content=facts, is_error=result is None)


def process_result(held: Held, done: ProcessResult) -> CallToolResult:
    """What came of a command."""
    streams = {"stdout": done.stdout, "stderr": done.stderr}
    text = [f"exit code {done.exit_code}{', stopped: its time was up' if done.timed_out else ''}"]
    text += [f"{name}:\n{_clipped(value)}" for name, value in streams.items() if value]
    return CallToolResult(
        content=[TextContent(type="text", text="\n".join(text)), _name(held)],
        structured_content={
            "session": held.id,
            "exit_code": done.exit_code,
            "timed_out": done.timed_out,
            **{name: _clipped(value) for name, value in streams.items()},
        },
    )


def _name(held: Held) -> TextContent:
    return TextContent(type="text", text=f"session: {held.id}")


def _content(part: dict[str, Any]) -> TextContent | ImageContent:
    if part["type"] == "image":
        return ImageContent(type="image", data=part["data"], mime_type=part["mimeType"])
    return TextContent(type="text", text=part["text"])


def _clipped(text: str) -> str:
    if len(text) <= _MOST_TEXT:
        return text
    half = _MOST_TEXT // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[-half:]}"
