"""Artifact of a run: a figure, a table, an image, a file."""

import hashlib
import io
import json
import math
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, Self

from llm_sandbox.artifacts.types import ArtifactType
from llm_sandbox.exceptions import ArtifactLimitError, ValidationError
from llm_sandbox.exceptions.plain import as_mapping, to_plain
from llm_sandbox.guest.json_limits import MOST_SHOWN, find_excess
from llm_sandbox.host.terminal import strip_controls
from llm_sandbox.results.bundles import CHART_MIME, TABLE_MIME, Bundle, decode_base64
from llm_sandbox.results.contents import Content

if TYPE_CHECKING:
    from llm_sandbox.results.charts import Chart
    from llm_sandbox.results.tables import Table

__all__ = ["Artifact", "extension", "human_size"]

_MATCHING_DIGITS = 12
_RASTER = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


class _Record:
    """Descriptor of a field that stores a raw record, and parses it on first access."""

    def __init__(self, kind: Literal["chart", "table"]) -> None:
        self._kind = kind
        self._slot = f"_{kind}"

    def __get__(self, instance: object, owner: type) -> Any:
        if instance is None:
            return None
        value = vars(instance)[self._slot]
        if isinstance(value, Content):
            value = vars(instance)[self._slot] = _read_record(self._kind, value)
        return value

    def __set__(self, instance: object, value: object) -> None:
        vars(instance)[self._slot] = value


def _read_record(kind: str, content: Content) -> "Chart | Table | None":
    text = content.bytes()
    if find_excess(text, largest=len(text), most_values=MOST_SHOWN):
        return None
    try:
        # trust: a record is claimed inside; the readers take nothing from it on faith.
        record = json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None
    if kind == "chart":
        from llm_sandbox.results.charts import Chart

        return Chart.from_record(record)
    from llm_sandbox.results.tables import Table

    return Table.from_record(record)


@dataclass(frozen=True, repr=False)
class Artifact:
    """Display or file of a run. Its facts are in memory; the content is read on demand."""

    type: ArtifactType
    """Type of the artifact for users."""
    mime: str
    """MIME type of the content, detected from its bytes."""
    content: Content | None = None
    """Content; None when it was not transferred, and `note` says why."""
    size: int = 0
    """Size of the content in bytes; without content, as the sandbox lists it."""
    paths: tuple[str, ...] = ()
    """Paths in the sandbox, relative to the working directory; empty for a display."""
    outputs: tuple[int, ...] = ()
    """Indices in `ExecutionResult.outputs` where it was displayed; empty for a file."""
    change: Literal["created", "changed"] | None = None
    """Change that the run made to the file; None for a display."""
    event: Literal["show", "cell_end", "savefig"] | None = None
    """Event that published a figure; None for anything else."""
    source: str = ""
    """Library or class that made it, as the sandbox claims; empty when unknown."""
    width: int | None = None
    """Width in pixels, or points for documents; None when unknown."""
    height: int | None = None
    """Height in the same unit; None when unknown."""
    dpi: int | None = None
    """Resolution in dots per inch; None when unknown."""
    pages: int | None = None
    """Number of pages, sheets or frames; None when unknown."""
    duration_s: float | None = None
    """Duration of audio or video in seconds; None when unknown."""
    chart: "Chart | None" = _Record("chart")  # type: ignore[assignment]
    """Data of a figure, as claimed inside; None when unknown."""
    table: "Table | None" = _Record("table")  # type: ignore[assignment]
    """Data of a table, as claimed inside; None when it is not a table."""
    alternatives: Mapping[str, Content] = field(default_factory=dict)
    """Other representations by MIME type; empty by default."""
    summary: str = ""
    """Short text that the sandbox gives for it."""
    note: str = ""
    """Problem with the content, or the reason why there is none; empty when all is well."""
    _bring: Callable[[Path], Path] | None = field(default=None, repr=False, compare=False)
    """Function that copies content that stayed in the sandbox to a file of the host."""

    @property
    def sha256(self) -> str | None:
        """Digest of the content, in hexadecimal; None without content."""
        return None if self.content is None else self.content.sha256

    @property
    def id(self) -> str:
        """Short identifier that stays the same for the same content."""
        if self.content is not None:
            return self.content.sha256[:_MATCHING_DIGITS]
        named = "\0".join((self.mime, self.summary, *self.paths)).encode("utf-8", "surrogatepass")
        return hashlib.sha256(named).hexdigest()[:_MATCHING_DIGITS]

    @property
    def is_raster(self) -> bool:
        """True if the content is a raster image, of a type that is widely supported."""
        return self.content is not None and self.mime in _RASTER

    def bytes(self) -> bytes:
        """Return the content.

        Raises:
            ArtifactLimitError: The content was not transferred.
        """
        return self._held().bytes()

    def base64(self) -> str:
        """Return the content as base64 text; see `bytes`."""
        return self._held().base64()

    def read_text(self) -> str:
        r"""Return the content as UTF-8 text, other bytes as ``\xff`` escapes; see `bytes`."""
        return self._held().text()

    def _held(self) -> Content:
        if self.content is None:
            is_file = bool(self.paths) and not self.mime.startswith("inode/")
            raise ArtifactLimitError(
                f"the content of {self.name!r} was not transferred: "
                f"{self.note or 'unknown reason'}",
                hint="while the session is open, save(path) and open() copy it from the sandbox"
                if is_file
                else None,
            )
        return self.content

    @property
    def name(self) -> str:
        """Display name: the path, else type and id."""
        return self.paths[0] if self.paths else f"{self.type.value}-{self.id}"

    def save(self, path: str | Path) -> Path:
        """Write the content to a file of the host and return its path.

        A file over `Limits.artifact_bytes` is copied from the sandbox, in pieces, while the session
        is open and the file is unchanged since the run.

        Args:
            path: Destination; without an extension it gets the usual one of the content's type.

        Raises:
            ArtifactLimitError: The content was not transferred, and cannot be copied any more.
            OSError: The file cannot be written.
        """
        target = Path(path)
        if not target.suffix:
            target = target.with_name(target.name + extension(self.mime))
        if self.content is None and self._bring is not None:
            return self._bring(target)
        return self._held().save(target)

    def open(self) -> BinaryIO:
        """Open the content for reading, as `open(path, "rb")` would; close it when done.

        A file over `Limits.artifact_bytes` is copied to a temporary file of the host first, which
        is deleted when it is closed; see `save`.

        Raises:
            ArtifactLimitError: The content was not transferred, and cannot be copied any more.
            OSError: The temporary file cannot be written.
        """
        if self.content is not None or self._bring is None:
            return io.BytesIO(self.bytes())
        with tempfile.TemporaryDirectory(prefix="llm-sandbox-") as folder:
            return self._bring(Path(folder) / "content").open("rb")

    def brought_by(self, bring: Callable[[Path], Path]) -> "Artifact":
        """Return this artifact with a function that copies its content, which was not transferred.

        Args:
            bring: Writes the content to a file of the host, and returns its path.
        """
        return replace(self, _bring=bring)

    def describe(self) -> str:
        """Return one line about the artifact, without control characters."""
        parts = [self.type.value]
        if self.paths:
            parts.append(repr(self.paths[0])[1:-1])
        parts.append(f"({', '.join(self._facts())})")
        chart, table = self.chart, self.table
        if chart is not None:
            parts.append(f"- {chart.describe()}")
        elif table is not None:
            parts.append(f"- {table.describe()}")
        if self.note:
            parts.append(f"[{self.note}]")
        return strip_controls(" ".join(parts)).replace("\n", " ")

    def _facts(self) -> list[str]:
        facts = [self.mime]
        if self.width and self.height:
            facts.append(f"{self.width} x {self.height}")
        if self.pages:
            facts.append(f"{self.pages} pages" if self.pages != 1 else "1 page")
        if self.duration_s is not None:
            facts.append(f"{self.duration_s:.1f} s")
        facts.append(human_size(self.size))
        if self.change:
            facts.append(self.change)
        return facts

    def __repr__(self) -> str:
        return f"<Artifact {self.id} {self.describe()}>"

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> dict[str, object]:
        bundle: dict[str, object] = {"text/plain": repr(self)}
        # trust: the content comes from inside; pictures are all that is shown unasked, an SVG only
        # where a browser runs none of its scripts.
        if self.content is not None and self.mime in ("image/png", "image/jpeg"):
            bundle[self.mime] = self.base64()
        elif self.content is not None and self.mime == "image/svg+xml":
            data = self.base64()
            bundle["text/html"] = f'<img alt="figure" src="data:image/svg+xml;base64,{data}">'
        elif self.table is not None:
            bundle["text/markdown"] = self.table.to_markdown()
        return bundle

    def __hash__(self) -> int:
        return hash((self.mime, self.content, self.paths, self.outputs))

    def agrees_with(self, other: "Artifact") -> bool:
        """Return whether chart and table data of both artifacts are the same, or unknown."""
        pairs = [(vars(self)[slot], vars(other)[slot]) for slot in ("_chart", "_table")]
        return all(one is None or two is None or one == two for one, two in pairs)

    def merged(self, other: "Artifact") -> "Artifact":
        """Return this artifact merged with another one of the same content."""
        return replace(
            self,
            paths=tuple(dict.fromkeys((*self.paths, *other.paths))),
            outputs=tuple(sorted({*self.outputs, *other.outputs})),
            change=self.change or other.change,
            # As they are held, so that nothing is read that nobody asked for.
            chart=vars(self)["_chart"] or vars(other)["_chart"],
            table=vars(self)["_table"] or vars(other)["_table"],
        )

    def with_content(self, bundle: Bundle) -> "Artifact":
        """Return this artifact with the content of a display."""
        content = bundle.content(self.mime)
        others = {mime: bundle.content(mime) for mime in bundle if mime != self.mime}
        return replace(
            self,
            content=content if content is None or content.size == self.size else None,
            alternatives={
                mime: held
                for mime, held in others.items()
                if held is not None and mime not in (CHART_MIME, TABLE_MIME, "text/plain")
            },
        )

    def to_dict(self, *, include_content: bool = True) -> dict[str, object]:
        """Return the artifact as JSON-able data; `from_dict` restores it.

        Args:
            include_content: Keep the content, as base64 text; False keeps only the facts.
        """
        data: dict[str, object] = {"id": self.id, "sha256": self.sha256}
        for item in fields(self):
            if item.name not in ("content", "chart", "table", "alternatives", "_bring"):
                data[item.name] = to_plain(getattr(self, item.name))
        for name in ("chart", "table"):
            value = getattr(self, name)
            data[name] = None if value is None else value.to_dict()
        if not include_content:
            return data
        data["content"] = None if self.content is None else self.content.base64()
        data["alternatives"] = {m: held.base64() for m, held in self.alternatives.items()}
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Return the artifact that `to_dict` described; unknown fields are ignored.

        Raises:
            ValidationError: The data does not describe an artifact.
        """
        if not isinstance(data, Mapping):
            raise ValidationError("the data does not describe an artifact")
        names = {item.name for item in fields(cls)} - {"_bring"}
        known: dict[str, Any] = {name: data[name] for name in names if name in data}
        try:
            known["type"] = ArtifactType(known["type"])
            known["content"] = _content(known.get("content"))
            kept = as_mapping(known.get("alternatives"))
            contents = {mime: _content(text) for mime, text in kept.items()}
            known["alternatives"] = {m: held for m, held in contents.items() if held is not None}
            for name in ("paths", "outputs"):
                known[name] = tuple(known.get(name, ()))
            for name in ("chart", "table"):
                record = known.get(name)
                known[name] = None if record is None else Content.of(json.dumps(record).encode())
            return cls(**known)
        except (KeyError, TypeError, ValueError) as error:
            raise ValidationError("the data does not describe an artifact") from error


def _content(text: object) -> Content | None:
    if text is None:
        return None
    decoded = decode_base64(text) if isinstance(text, str) else None
    if decoded is None:
        raise ValidationError("the content of an artifact is base64 text", parameter="content")
    return Content.of(decoded)


def extension(mime: str) -> str:
    """Return the usual extension of a MIME type, with its dot; empty when there is none."""
    import mimetypes

    return _EXTENSIONS.get(mime) or mimetypes.guess_extension(mime) or ""


_EXTENSIONS = {
    "application/geo+json": ".geojson",
    "application/x-ipynb+json": ".ipynb",
    "application/vnd.apache.arrow.file": ".arrow",
    "application/vnd.apache.parquet": ".parquet",
    "application/vnd.plotly.v1+json": ".plotly.json",
    "audio/wav": ".wav",
    "image/webp": ".webp",
    "text/latex": ".tex",
    "text/markdown": ".md",
}


def human_size(size: int) -> str:
    """Return a human-readable size: `"512 bytes"`, `"12 KB"`, `"3.4 MB"`."""
    if size < 1000:
        return f"{size} bytes" if size != 1 else "1 byte"
    power = min(4, int(math.log10(size)) // 3)
    value = size / 1000**power
    return f"{value:.{0 if value >= 10 else 1}f} {' KMGT'[power]}B"
