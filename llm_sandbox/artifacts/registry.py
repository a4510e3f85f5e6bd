"""Which artifact kinds there are: built-in, registered, or from an installed package.

A package adds one through the entry point group `llm_sandbox.artifacts`, name to kind class.
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

__all__ = ["BUILTIN", "ENTRY_POINT_GROUP", "available", "kinds", "load", "register"]

ENTRY_POINT_GROUP = "llm_sandbox.artifacts"
"""Group of the entry points that add kinds."""

BUILTIN = {
    "png": "llm_sandbox.artifacts.raster:PngKind",
    "jpeg": "llm_sandbox.artifacts.raster:JpegKind",
    "svg": "llm_sandbox.artifacts.svg:SvgKind",
    "pdf": "llm_sandbox.artifacts.pdf:PdfKind",
    "html": "llm_sandbox.artifacts.html:HtmlKind",
}
"""Name to `module:Class`, best first; the module is imported on first use."""

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
    """Return the names of the kinds that can be used here, best first."""
    return list(_names())


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
        module, _, attribute = BUILTIN[key].partition(":")
        found = getattr(import_module(module), attribute)
    else:
        point = _installed().get(key)
        if point is None:
            choice = ", ".join(available())
            raise ValidationError(
                f"no artifact kind of this name; known: {choice}", parameter="name"
            )
        found = _load_installed(key, point)
    if not _is_kind(found):
        raise ConfigurationError(f"the artifact kind {key!r} is not a complete kind class")
    return found


def kinds() -> Iterator[ArtifactKind]:
    """Yield all kinds, best first, each loaded when it is reached.

    An installed kind that cannot be used is passed over with a warning: it must not cost anyone
    the plots of the others.
    """
    for name in _names():
        try:
            yield load(name)()
        except ConfigurationError as error:
            warnings.warn(str(error), RuntimeWarning, stacklevel=2)


def _names() -> Iterator[str]:
    # Lazy to the end: most plots are of a built-in kind, and then no package metadata is read.
    yield from BUILTIN
    yield from (name for name in tuple(_registered) if name not in BUILTIN)
    yield from (name for name in _installed() if name not in BUILTIN and name not in _registered)


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
        and hasattr(value, "mimes")
        and hasattr(value, "file_type")
    )


def _key(name: str) -> str:
    return str(name).strip().lower()
