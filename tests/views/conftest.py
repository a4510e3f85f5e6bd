"""Results to look at, made as the sandbox makes them."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import PIL.Image
import pytest

from llm_sandbox.artifacts.artifact import Artifact
from llm_sandbox.artifacts.types import ArtifactType
from llm_sandbox.const import RunStatus
from llm_sandbox.data import ExecutionResult
from llm_sandbox.results.contents import Content
from llm_sandbox.results.outputs import (
    DisplayOutput,
    ErrorOutput,
    ExecutionError,
    Output,
    ResultOutput,
    StreamOutput,
    TracebackFrame,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


def png(width: int = 64, height: int = 48, colour: tuple[int, int, int] = (10, 120, 200)) -> bytes:
    """A picture of one colour."""
    data = io.BytesIO()
    PIL.Image.new("RGB", (width, height), colour).save(data, "PNG")
    return data.getvalue()


class Run:
    """A result in the making: each call adds what a program would have put out."""

    def __init__(self) -> None:
        self.outputs: list[Output] = []
        self.artifacts: list[Artifact] = []
        self._fields: dict[str, Any] = {}

    def out(self, text: str, name: str = "stdout") -> Run:
        """Write to a stream."""
        self.outputs.append(StreamOutput(name, text))  # type: ignore[arg-type]
        return self

    def value(self, text: str) -> Run:
        """End with an expression."""
        self.outputs.append(ResultOutput({"text/plain": text}))
        return self.with_fields(value=text)

    def show(
        self,
        data: Mapping[str, object],
        kind: str | None = None,
        mime: str = "",
        content: bytes | None = None,
        display_id: str | None = None,
        **facts: Any,
    ) -> Run:
        """Display a bundle, with an artifact of it where it has a kind."""
        self.outputs.append(DisplayOutput(data, display_id=display_id))
        if kind is not None:
            self.add(kind, mime, content, outputs=(len(self.outputs) - 1,), **facts)
        return self

    def picture(self, content: bytes | None = None, **facts: Any) -> Run:
        """Show a figure."""
        data = png() if content is None else content
        size = PIL.Image.open(io.BytesIO(data)).size
        held = Content.of(data)
        return self.show(
            {"image/png": held.base64(), "text/plain": "<Figure>"},
            "figure",
            "image/png",
            data,
            width=size[0],
            height=size[1],
            **facts,
        )

    def file(self, path: str, content: bytes, kind: str = "text", mime: str = "text/plain") -> Run:
        """Leave a file."""
        return self.add(kind, mime, content, paths=(path,), change="created")

    def add(self, kind: str, mime: str, content: bytes | None, **facts: Any) -> Run:
        """Make an artifact."""
        held = None if content is None else Content.of(content)
        size = 0 if held is None else held.size
        self.artifacts.append(Artifact(ArtifactType(kind), mime, held, size, **facts))
        return self

    def fail(self, name: str, message: str, source: str = "fail()", line: int = 3) -> Run:
        """Raise."""
        frame = TracebackFrame("<cell 1>", line, "<module>", source)
        trace = ("Traceback (most recent call last):", f"{name}: {message}")
        self.outputs.append(ErrorOutput(name, message, trace))
        error = ExecutionError(name, message, (frame,), line)
        return self.with_fields(error=error, status=RunStatus.ERROR, exit_code=1)

    def with_fields(self, **fields: Any) -> Run:
        """Set fields of the result."""
        self._fields |= fields
        return self

    def result(self) -> ExecutionResult:
        """The result."""
        texts = {"stdout": "", "stderr": ""}
        for name in texts:
            pieces = [
                o.text for o in self.outputs if isinstance(o, StreamOutput) and o.name == name
            ]
            texts[name] = "".join(pieces)
        fields = {"execution_count": 1, **texts, **self._fields}
        return ExecutionResult(
            outputs=tuple(self.outputs), artifacts=tuple(self.artifacts), **fields
        )


@pytest.fixture(scope="session")
def run() -> type[Run]:
    """Makes results."""
    return Run


@pytest.fixture(scope="session")
def picture() -> Any:
    """Makes PNG files."""
    return png
