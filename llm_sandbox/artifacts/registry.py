"""Which artifact kinds there are: built-in, registered, or from an installed package.

A package adds one through the entry point group `llm_sandbox.artifacts`, name to kind class. Files
whose beginning no built-in kind claims, or only a general one such as ZIP or plain text, are shown
to the added kinds (`identify`); displays are shown to those that have a `file_type` (`kinds`).
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
    "png": f"{_FORMATS}.raster:PngKind",
    "jpeg": f"{_FORMATS}.raster:JpegKind",
    "svg": f"{_FORMATS}.svg:SvgKind",
    "pdf": f"{_FORMATS}.pdf:PdfKind",
    "html": f"{_FORMATS}.html:HtmlKind",
    "gif": f"{_FORMATS}.gif:GifKind",
    "webp": f"{_FORMATS}.webp:WebpKind",
    "bmp": f"{_FORMATS}.bmp:BmpKind",
    "ico": f"{_FORMATS}.bmp:IcoKind",
    "tiff": f"{_FORMATS}.tiff:TiffKind",
    "avif": f"{_FORMATS}.isomedia:AvifKind",
    "heic": f"{_FORMATS}.isomedia:HeicKind",
    "eps": f"{_FORMATS}.postscript:EpsKind",
    "postscript": f"{_FORMATS}.postscript:PostScriptKind",
    "wav": f"{_FORMATS}.riff:WavKind",
    "aiff": f"{_FORMATS}.riff:AiffKind",
    "mp3": f"{_FORMATS}.mpeg:Mp3Kind",
    "aac": f"{_FORMATS}.mpeg:AacKind",
    "ogg": f"{_FORMATS}.ogg:OggKind",
    "ogv": f"{_FORMATS}.ogg:OgvKind",
    "flac": f"{_FORMATS}.ogg:FlacKind",
    "m4a": f"{_FORMATS}.isomedia:M4aKind",
    "mp4": f"{_FORMATS}.isomedia:Mp4Kind",
    "mov": f"{_FORMATS}.isomedia:MovKind",
    "webm": f"{_FORMATS}.matroska:WebmKind",
    "matroska": f"{_FORMATS}.matroska:MatroskaKind",
    "avi": f"{_FORMATS}.riff:AviKind",
    "docx": f"{_FORMATS}.office:DocxKind",
    "xlsx": f"{_FORMATS}.office:XlsxKind",
    "pptx": f"{_FORMATS}.office:PptxKind",
    "odt": f"{_FORMATS}.office:OdtKind",
    "ods": f"{_FORMATS}.office:OdsKind",
    "odp": f"{_FORMATS}.office:OdpKind",
    "epub": f"{_FORMATS}.office:EpubKind",
    "npz": f"{_FORMATS}.zipped:NpzKind",
    "torch": f"{_FORMATS}.zipped:TorchKind",
    "zip": f"{_FORMATS}.zipped:ZipKind",
    "tar": f"{_FORMATS}.tar:TarKind",
    "gzip": f"{_FORMATS}.compressed:GzipKind",
    "bzip2": f"{_FORMATS}.compressed:Bzip2Kind",
    "xz": f"{_FORMATS}.compressed:XzKind",
    "zstd": f"{_FORMATS}.compressed:ZstdKind",
    "7z": f"{_FORMATS}.compressed:SevenZipKind",
    "parquet": f"{_FORMATS}.columnar:ParquetKind",
    "arrow": f"{_FORMATS}.columnar:ArrowKind",
    "npy": f"{_FORMATS}.arrays:NpyKind",
    "hdf5": f"{_FORMATS}.arrays:Hdf5Kind",
    "sqlite": f"{_FORMATS}.arrays:SqliteKind",
    "pickle": f"{_FORMATS}.binary:PickleKind",
    "elf": f"{_FORMATS}.binary:ElfKind",
    "ipynb": f"{_FORMATS}.structured:NotebookKind",
    "geojson": f"{_FORMATS}.structured:GeoJsonKind",
    "ndjson": f"{_FORMATS}.structured:NdjsonKind",
    "json": f"{_FORMATS}.structured:JsonKind",
    "xml": f"{_FORMATS}.html:XmlKind",
    "csv": f"{_FORMATS}.delimited:CsvKind",
    "tsv": f"{_FORMATS}.delimited:TsvKind",
    "markdown": f"{_FORMATS}.text:MarkdownKind",
    "latex": f"{_FORMATS}.text:LatexKind",
    "python": f"{_FORMATS}.text:PythonKind",
    "javascript": f"{_FORMATS}.text:JavaScriptKind",
    "yaml": f"{_FORMATS}.text:YamlKind",
    "toml": f"{_FORMATS}.text:TomlKind",
    "text": f"{_FORMATS}.text:TextKind",
    "data": f"{_FORMATS}.binary:DataKind",
    "empty": f"{_FORMATS}.binary:EmptyKind",
}
"""Name to `module:Class`; the module is imported on first use."""

PLOTS = ("png", "jpeg", "svg", "pdf", "html")
"""The built-in kinds that a plot comes in, best first."""

_registered: dict[str, type[ArtifactKind]] = {}


def register(name: str, kind: type[ArtifactKind]) -> None:
    """Recognise `kind` in this process: in the place of a built-in of that name, else after them.

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
    """Yield the kinds that a plot may come in, best first, each loaded when it is reached.

    Those are the built-in `PLOTS`, and what other packages add with a `file_type`. An installed
    kind that cannot be used is passed over with a warning: it must not cost anyone the plots of
    the others.
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
