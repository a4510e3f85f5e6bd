"""Registry of artifact kinds: built-in, registered, or from an installed package.

A package adds one through the entry point group `llm_sandbox.artifacts`, name to kind class. Files
that no built-in kind recognises, or only a general one such as ZIP or plain text, are offered to
the added kinds (`identify`); displays are offered to those that have a `file_type` (`kinds`).
"""

import warnings
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from inspect import isabstract
from typing import TYPE_CHECKING, TypeGuard

from llm_sandbox.artifacts.base import ArtifactKind
from llm_sandbox.exceptions import ConfigurationError, ValidationError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = [
    "BUILTIN",
    "ENTRY_POINT_GROUP",
    "PLOTS",
    "added",
    "available",
    "kinds",
    "load",
    "register",
]

ENTRY_POINT_GROUP = "llm_sandbox.artifacts"
"""Group of the entry points that add kinds."""

_FORMATS = "llm_sandbox.artifacts.formats"

BUILTIN = {
    "png": f"{_FORMATS}.images:PngKind",
    "jpeg": f"{_FORMATS}.images:JpegKind",
    "svg": f"{_FORMATS}.markup:SvgKind",
    "pdf": f"{_FORMATS}.documents:PdfKind",
    "html": f"{_FORMATS}.markup:HtmlKind",
    "gif": f"{_FORMATS}.images:GifKind",
    "webp": f"{_FORMATS}.images:WebpKind",
    "bmp": f"{_FORMATS}.bitmaps:BmpKind",
    "ico": f"{_FORMATS}.bitmaps:IcoKind",
    "tiff": f"{_FORMATS}.bitmaps:TiffKind",
    "avif": f"{_FORMATS}.video:AvifKind",
    "heic": f"{_FORMATS}.video:HeicKind",
    "eps": f"{_FORMATS}.documents:EpsKind",
    "postscript": f"{_FORMATS}.documents:PostScriptKind",
    "wav": f"{_FORMATS}.audio:WavKind",
    "aiff": f"{_FORMATS}.audio:AiffKind",
    "mp3": f"{_FORMATS}.audio:Mp3Kind",
    "aac": f"{_FORMATS}.audio:AacKind",
    "ogg": f"{_FORMATS}.audio:OggKind",
    "ogv": f"{_FORMATS}.audio:OgvKind",
    "flac": f"{_FORMATS}.audio:FlacKind",
    "m4a": f"{_FORMATS}.video:M4aKind",
    "mp4": f"{_FORMATS}.video:Mp4Kind",
    "mov": f"{_FORMATS}.video:MovKind",
    "webm": f"{_FORMATS}.video:WebmKind",
    "matroska": f"{_FORMATS}.video:MatroskaKind",
    "avi": f"{_FORMATS}.video:AviKind",
    "docx": f"{_FORMATS}.documents:DocxKind",
    "xlsx": f"{_FORMATS}.documents:XlsxKind",
    "pptx": f"{_FORMATS}.documents:PptxKind",
    "odt": f"{_FORMATS}.documents:OdtKind",
    "ods": f"{_FORMATS}.documents:OdsKind",
    "odp": f"{_FORMATS}.documents:OdpKind",
    "epub": f"{_FORMATS}.documents:EpubKind",
    "npz": f"{_FORMATS}.archives:NpzKind",
    "torch": f"{_FORMATS}.archives:TorchKind",
    "zip": f"{_FORMATS}.archives:ZipKind",
    "tar": f"{_FORMATS}.archives:TarKind",
    "gzip": f"{_FORMATS}.archives:GzipKind",
    "bzip2": f"{_FORMATS}.archives:Bzip2Kind",
    "xz": f"{_FORMATS}.archives:XzKind",
    "zstd": f"{_FORMATS}.archives:ZstdKind",
    "7z": f"{_FORMATS}.archives:SevenZipKind",
    "parquet": f"{_FORMATS}.tables:ParquetKind",
    "arrow": f"{_FORMATS}.tables:ArrowKind",
    "npy": f"{_FORMATS}.data:NpyKind",
    "hdf5": f"{_FORMATS}.data:Hdf5Kind",
    "sqlite": f"{_FORMATS}.data:SqliteKind",
    "pickle": f"{_FORMATS}.data:PickleKind",
    "elf": f"{_FORMATS}.data:ElfKind",
    "ipynb": f"{_FORMATS}.structured:NotebookKind",
    "geojson": f"{_FORMATS}.structured:GeoJsonKind",
    "ndjson": f"{_FORMATS}.structured:NdjsonKind",
    "json": f"{_FORMATS}.structured:JsonKind",
    "xml": f"{_FORMATS}.markup:XmlKind",
    "csv": f"{_FORMATS}.tables:CsvKind",
    "tsv": f"{_FORMATS}.tables:TsvKind",
    "markdown": f"{_FORMATS}.text:MarkdownKind",
    "latex": f"{_FORMATS}.text:LatexKind",
    "python": f"{_FORMATS}.text:PythonKind",
    "javascript": f"{_FORMATS}.text:JavaScriptKind",
    "yaml": f"{_FORMATS}.text:YamlKind",
    "toml": f"{_FORMATS}.text:TomlKind",
    "text": f"{_FORMATS}.text:TextKind",
    "data": f"{_FORMATS}.data:DataKind",
    "empty": f"{_FORMATS}.data:EmptyKind",
}
"""Name to `module:Class`; the module is imported on first use."""

PLOTS = ("png", "jpeg", "svg", "pdf", "html")
"""Built-in kinds of plots, best first."""

_registered: dict[str, type[ArtifactKind]] = {}


def register(name: str, kind: type[ArtifactKind]) -> None:
    """Register `kind` in this process: in place of a built-in one of that name, else after these.

    Raises:
        ValidationError: `kind` is not a complete kind class.
    """
    if not _is_kind(kind):
        raise ValidationError("a kind must be a complete ArtifactKind", parameter="kind")
    _registered[_key(name)] = kind


def available() -> list[str]:
    """Return the names of the kinds that can be used here, built-in ones first."""
    return [*BUILTIN, *added()]


def added() -> Iterator[str]:
    """Yield the names of the kinds that are not built in, registered ones first."""
    # Lazy to the end: what a built-in kind answers for costs no look at package metadata.
    yield from (name for name in tuple(_registered) if name not in BUILTIN)
    yield from (name for name in _installed() if name not in BUILTIN and name not in _registered)


def load(name: str) -> type[ArtifactKind]:
    """Return the class of a kind.

    Raises:
        ValidationError: no kind has this name.
        ConfigurationError: an installed package names something that is not a kind class, or
            cannot be imported.
    """
    key = _key(name)
    if key in _registered:
        return _registered[key]
    if key in BUILTIN:
        return _builtin(key)
    point = _installed().get(key)
    if point is None:
        choice = ", ".join(available())
        raise ValidationError(f"no artifact kind of this name; known: {choice}", parameter="name")
    found = _load_installed(key, point)
    if not _is_kind(found):
        raise ConfigurationError(f"the artifact kind {key!r} is not a complete kind class")
    return found


def kinds() -> Iterator[ArtifactKind]:
    """Yield the kinds of plots, best first, each loaded when it is reached.

    These are the built-in `PLOTS`, and kinds of other packages with a `file_type`. An installed
    kind that cannot be used is skipped with a warning, so that plots of other kinds are not lost.
    """
    for name in _plots():
        try:
            kind = load(name)()
        except ConfigurationError as error:
            warnings.warn(str(error), RuntimeWarning, stacklevel=2)
            continue
        if kind.file_type is not None:
            yield kind


def _plots() -> Iterator[str]:
    yield from PLOTS
    yield from (name for name in tuple(_registered) if name in BUILTIN and name not in PLOTS)
    yield from added()


@cache
def _builtin(key: str) -> type[ArtifactKind]:
    module, _, attribute = BUILTIN[key].partition(":")
    found: type[ArtifactKind] = getattr(import_module(module), attribute)
    return found


@cache
def _installed() -> "dict[str, EntryPoint]":
    # Cached, unlike that of languages: this is asked for every table that is displayed.
    from importlib.metadata import entry_points

    points = sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda point: point.name)
    return {_key(point.name): point for point in points}


def _load_installed(key: str, point: "EntryPoint") -> object:
    try:
        return point.load()
    except Exception as error:
        raise ConfigurationError(f"the artifact kind {key!r} cannot be imported") from error


def _is_kind(value: object) -> TypeGuard[type[ArtifactKind]]:
    return (
        isinstance(value, type)
        and issubclass(value, ArtifactKind)
        and not isabstract(value)
        and bool(getattr(value, "mimes", ()))
    )


def _key(name: str) -> str:
    return str(name).strip().lower()
