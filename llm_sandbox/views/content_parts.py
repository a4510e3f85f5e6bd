"""Content parts in the formats of model providers."""

import base64
from typing import Literal, get_args

from llm_sandbox.exceptions import ValidationError

__all__ = ["Shape", "check_shape", "image_part", "text_part"]

Shape = Literal["openai", "openai-chat", "mcp"]
"""Format: OpenAI's Responses, OpenAI's Chat Completions (which many others accept), or MCP tool
results."""


def check_shape(shape: str) -> None:
    """Raise ValidationError if a shape is unknown."""
    if shape not in get_args(Shape):
        names = ", ".join(map(repr, get_args(Shape)))
        raise ValidationError(f"shape must be one of {names}", parameter="shape")


def text_part(text: str, shape: Shape) -> dict[str, object]:
    """Return a content part with text.

    Args:
        text: The text.
        shape: Format of the part.
    """
    return {"type": "input_text" if shape == "openai" else "text", "text": text}


def image_part(data: bytes, mime: str, shape: Shape) -> dict[str, object]:
    """Return a content part with an image.

    Args:
        data: The image file.
        mime: MIME type of the image.
        shape: Format of the part.
    """
    encoded = base64.b64encode(data).decode("ascii")
    if shape == "mcp":
        return {"type": "image", "data": encoded, "mimeType": mime}
    url = f"data:{mime};base64,{encoded}"
    if shape == "openai":
        return {"type": "input_image", "image_url": url, "detail": "auto"}
    return {"type": "image_url", "image_url": {"url": url, "detail": "auto"}}
