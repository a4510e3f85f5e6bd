"""Plots, and the file types of artifacts."""

import base64
import binascii
import builtins
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.results.contents import Content

__all__ = ["FileType", "PlotOutput"]


class FileType(Enum):
    """File format of artifacts; the value is the usual extension."""

    PNG = "png"
    JPEG = "jpeg"
    PDF = "pdf"
    SVG = "svg"
    CSV = "csv"
    JSON = "json"
    TXT = "txt"
    HTML = "html"

    @property
    def mime(self) -> str:
        """The MIME type."""
        return _MIME[self]

    @classmethod
    def from_mime(cls, mime: str) -> "FileType":
        """Return the member for a MIME type; parameters (`; charset=...`) are ignored.

        Raises:
            ValidationError: no member has this MIME type.
        """
        wanted = mime.partition(";")[0].strip().lower()
        for member, name in _MIME.items():
            if name == wanted:
                return member
        raise ValidationError("no file type has this MIME type", parameter="mime")


_MIME = {
    FileType.PNG: "image/png",
    FileType.JPEG: "image/jpeg",
    FileType.PDF: "application/pdf",
    FileType.SVG: "image/svg+xml",
    FileType.CSV: "text/csv",
    FileType.JSON: "application/json",
    FileType.TXT: "text/plain",
    FileType.HTML: "text/html",
}


class _Encoded:
    """Descriptor of a text field that accepts `Content`, which is encoded on access."""

    def __get__(self, instance: object, owner: type) -> str:
        if instance is None:
            raise AttributeError  # a field without a default
        value: str | Content = vars(instance)["_content"]
        return value.base64() if isinstance(value, Content) else value

    def __set__(self, instance: object, value: str | Content) -> None:
        vars(instance)["_content"] = value


@dataclass(frozen=True, repr=False)
class PlotOutput:
    """Plot or other visual artifact of a run."""

    format: FileType
    """File type of `content_base64`."""
    content_base64: str = _Encoded()  # type: ignore[assignment]
    """Content of the file, as base64."""
    width: int | None = None
    """Width in pixels; None when unknown."""
    height: int | None = None
    """Height in pixels; None when unknown."""
    dpi: int | None = None
    """Resolution in dots per inch; None when unknown."""

    def bytes(self) -> builtins.bytes:
        """Return the file's bytes.

        Raises:
            ValidationError: `content_base64` is not base64.
        """
        held = vars(self)["_content"]
        if isinstance(held, Content):
            return held.bytes()
        try:
            return base64.b64decode(self.content_base64, validate=True)
        except (binascii.Error, ValueError) as error:
            raise ValidationError(
                "the plot's content is not base64", parameter="content_base64"
            ) from error

    def save(self, path: str | Path) -> Path:
        """Write the file and return its path.

        Args:
            path: Destination on the host; without an extension it gets the format's.
        """
        target = Path(path)
        if not target.suffix:
            target = target.with_name(f"{target.name}.{self.format.value}")
        target.write_bytes(self.bytes())
        return target

    def __repr__(self) -> str:
        size = f", {self.width}x{self.height}" if self.width and self.height else ""
        dpi = f", {self.dpi} dpi" if self.dpi else ""
        return f"<PlotOutput {self.format.value}{size}{dpi}, {self._size()} bytes>"

    def _size(self) -> int:
        held: str | Content = vars(self)["_content"]
        if isinstance(held, Content):
            return held.size
        return len(held) * 3 // 4 - held[-2:].count("=")

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> dict[str, object]:
        bundle: dict[str, object] = {"text/plain": repr(self)}
        if self.format in (FileType.PNG, FileType.JPEG):
            bundle[self.format.mime] = self.content_base64
        elif self.format is FileType.SVG:
            # trust: an SVG from inside may hold scripts; in an <img> a browser runs none, and the
            # content is encoded again so that it cannot leave the attribute.
            encoded = base64.b64encode(self.bytes()).decode("ascii")
            bundle["text/html"] = f'<img alt="plot" src="data:image/svg+xml;base64,{encoded}">'
        return bundle

    def to_dict(self, *, include_content: bool = True) -> dict[str, object]:
        """Return the plot as JSON-able data; without content, `content_base64` is empty."""
        return {
            "format": self.format.value,
            "content_base64": self.content_base64 if include_content else "",
            "width": self.width,
            "height": self.height,
            "dpi": self.dpi,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> "PlotOutput":
        """Return the plot that `to_dict` described; unknown fields are ignored.

        Raises:
            ValidationError: the format is unknown.
        """
        try:
            kind = FileType(data.get("format"))
        except ValueError as error:
            raise ValidationError("the plot's format is unknown", parameter="format") from error
        sizes = {name: data.get(name) for name in ("width", "height", "dpi")}
        return cls(
            kind,
            str(data.get("content_base64", "")),
            **{name: value for name, value in sizes.items() if isinstance(value, int)},
        )
