"""Identification of files by their bytes, never by their name or claimed type.

The first bytes select one kind, whose `matches` decides; no other kind is loaded. The name decides
only between text formats that their content does not distinguish. A contradicting name or claimed
type becomes a note.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.artifacts.registry import BUILTIN, added, load
from llm_sandbox.artifacts.types import ArtifactType
from llm_sandbox.exceptions import SandboxError

__all__ = ["LOOK", "Examination", "Identity", "examine", "extension_of", "identify"]

LOOK = 1024 * 1024
"""Number of leading bytes that `identify` reads."""

_SIGNED = 16 * 1024
"""Signatures of all kinds except those in `_CONTAINERS`."""

_FORMATS = "llm_sandbox.artifacts.formats"
_BY_FOUR: dict[bytes, str] = {
    b"\x89PNG": "png",
    b"%PDF": "pdf",
    b"GIF8": "gif",
    b"II*\x00": "tiff",
    b"MM\x00*": "tiff",
    b"II+\x00": "tiff",
    b"MM\x00+": "tiff",
    b"\x00\x00\x01\x00": "ico",
    b"FORM": "aiff",
    b"fLaC": "flac",
    b"PK\x05\x06": "zip",
    b"\xfd7zX": "xz",
    b"(\xb5/\xfd": "zstd",
    b"7z\xbc\xaf": "7z",
    b"PAR1": "parquet",
    b"PARE": "parquet",
    b"ARRO": "arrow",
    b"FEA1": "arrow",
    b"\x93NUM": "npy",
    b"\x89HDF": "hdf5",
    b"SQLi": "sqlite",
    b"\x7fELF": "elf",
    b"\xc5\xd0\xd3\xc6": "eps",
}
_BY_TWO: dict[bytes, tuple[str, ...]] = {
    b"\xff\xd8": ("jpeg",),
    b"BM": ("bmp",),
    b"\x1f\x8b": ("gzip",),
    b"BZ": ("bzip2",),
    b"ID": ("mp3",),
    b"%!": ("eps", "postscript"),
    b"\x80\x02": ("pickle",),
    b"\x80\x03": ("pickle",),
    b"\x80\x04": ("pickle",),
    b"\x80\x05": ("pickle",),
    **{bytes((0xFF, second)): ("mp3", "aac") for second in range(0xE0, 0x100)},
}
_CONTAINERS = {
    b"PK\x03\x04": f"{_FORMATS}.archives:detect_zip",
    b"OggS": f"{_FORMATS}.audio:detect_ogg",
    b"\x1aE\xdf\xa3": f"{_FORMATS}.video:detect_matroska",
}
"""Container formats of several kinds: a function returns the kind of the content, or None."""
_RIFF = {b"WAVE": "wav", b"AVI ": "avi", b"WEBP": "webp"}
_ISO_MEDIA = f"{_FORMATS}.video:detect_iso_media"
_BOX_NAMES = (b"ftyp", b"moov")

_GENERAL = frozenset({"csv", "data", "gzip", "html", "json", "text", "xml", "zip"})
"""General kinds, for which an added kind may be more specific."""
_UNSPECIFIC = frozenset({"", "application/octet-stream", "binary/octet-stream", "text/plain"})
_MEDIA = ("image", "audio", "video")


@dataclass(frozen=True, slots=True)
class Identity:
    """Identified format of a file."""

    kind: str
    """Name of the kind, for `registry.load`."""
    mime: str
    """Usual MIME type of the kind."""
    type: ArtifactType
    """Artifact type for users."""
    note: str = ""
    """Contradictions of the name or the claim, and the remark on the kind."""


@dataclass(frozen=True, slots=True)
class Examination:
    """Facts about a whole file."""

    identity: Identity
    """Identified format; its own note is part of `Examination.note`."""
    dimensions: Dimensions
    """Dimensions from the header."""
    note: str
    """Warnings before the file is used; empty when all seems well."""


def identify(head: bytes, name: str = "", claimed: str = "") -> Identity:
    """Return the format of a file; never raises.

    Args:
        head: The file, or its beginning; the first MiB is read.
        name: Name or path of the file; empty when it has none.
        claimed: Claimed MIME type; empty for none.
    """
    # trust: bytes, a name and a claim from inside; the bytes decide.
    extension = extension_of(name)
    claimed = claimed.partition(";")[0].strip().lower()
    found = _by_signature(head) or _by_text(head[:LOOK], extension, claimed)
    if found in _GENERAL:
        found = next(_added_matches(head[:LOOK]), found)
    kind = load(found)
    # Nothing is a whole file of most text formats, and is said by the remark.
    named = head and (extension or claimed)
    contradiction = _contradiction(found, kind, extension, claimed) if named else ""
    note = "; ".join(part for part in (contradiction, kind.remark) if part)
    return Identity(found, kind.mimes[0], kind.type, note)


def examine(content: bytes, name: str = "", claimed: str = "") -> Examination:
    """Return the format of a file, its dimensions, and warnings.

    A kind from another package that raises is logged as a warning, and its facts are omitted.

    Args:
        content: The whole file.
        name: Name or path of the file; empty when it has none.
        claimed: Claimed MIME type; empty for none.
    """
    identity = identify(content, name, claimed)
    dimensions, wrong = Dimensions(), ""
    try:
        kind = load(identity.kind)()
        dimensions = kind.describe(content)
        wrong = kind.check(content)
    except Exception as error:  # noqa: BLE001 - a kind from another package may do anything
        _warn(identity.kind, error)
    return Examination(identity, dimensions, "; ".join(filter(None, (identity.note, wrong))))


def extension_of(name: str) -> str:
    """Return a file's extension in lower case, without the dot; empty when it has none.

    Args:
        name: Name or path of the file, possibly hostile.
    """
    stem, dot, extension = name[-256:].rpartition("/")[2].rpartition(".")
    # The dot of a hidden file is no extension's, and no extension in use is longer.
    return extension.lower() if dot and stem and len(extension) <= 16 else ""


def _by_signature(head: bytes) -> str | None:
    if not head:
        return "empty"
    # The whole of a large file is not copied for what stands in its first bytes.
    whole, head = head, head[:_SIGNED]
    four = head[:4]
    if four == b"RIFF":
        return _RIFF.get(head[8:12])
    container = _CONTAINERS.get(four) or (_ISO_MEDIA if head[4:8] in _BOX_NAMES else None)
    if container is not None:
        named = _resolver(container)(whole[:LOOK])
        return named if named in BUILTIN else None
    only = _BY_FOUR.get(four)
    for name in (only,) if only else _BY_TWO.get(four[:2], ()):
        if load(name)().matches(head):
            return name
    # The one signature that does not stand at the beginning.
    return "tar" if len(head) >= 512 and load("tar")().matches(head) else None


def _by_text(head: bytes, extension: str, claimed: str) -> str:
    from llm_sandbox.artifacts.formats.text import classify

    return classify(head, extension, claimed) or "data"


@cache
def _resolver(path: str) -> Callable[[bytes], str | None]:
    module, _, attribute = path.partition(":")
    found: Callable[[bytes], str | None] = getattr(import_module(module), attribute)
    return found


def _added_matches(head: bytes) -> Iterator[str]:
    for name in added():
        try:
            if load(name)().matches(head):
                yield name
        except Exception as error:  # noqa: BLE001 - a kind from another package may do anything
            _warn(name, error)


def _warn(name: str, error: Exception) -> None:
    reason = str(error) if isinstance(error, SandboxError) else type(error).__name__
    warnings.warn(f"the artifact kind {name!r} failed: {reason}", RuntimeWarning, stacklevel=2)


def _contradiction(found: str, kind: type[ArtifactKind], extension: str, claimed: str) -> str:
    said = []
    wider = [load(name) for name in kind.also if name in BUILTIN]
    own = {one for each in (kind, *wider) for one in each.extensions}
    if extension and extension not in own and extension in _known()[0]:
        said.append(f"named .{extension}")
    own = {one for each in (kind, *wider) for one in each.mimes}
    if claimed not in own and not (claimed in _UNSPECIFIC and _is_plain(found, kind, claimed)):
        media = claimed.partition("/")[0]
        if claimed in _known()[1] or media in _MEDIA:
            said.append(f"claims {claimed}" if len(claimed) <= 100 else "claims another type")
    if not said:
        return ""
    return f"{', '.join(said)}, holds {kind.label or kind.mimes[0]}"


def _is_plain(found: str, kind: type[ArtifactKind], claimed: str) -> bool:
    # Any text may be called plain text; bytes may not.
    return claimed != "text/plain" or kind.textual or "text" in (found, *kind.also)


@cache
def _known() -> tuple[frozenset[str], frozenset[str]]:
    # Loads every built-in kind, once, and only for a file that is not what it is called.
    every = [load(name) for name in BUILTIN]
    return (
        frozenset(extension for kind in every for extension in kind.extensions),
        frozenset(mime for kind in every for mime in kind.mimes),
    )
