"""Annotations for displays: type names and table records, and plots as the last expression of a
cell.
"""

from __future__ import annotations

import functools
from typing import Any

from .naming import qualified_name
from .session import METADATA_KEY, Bundle, Session

__all__ = ["annotate", "install", "qualified_name"]

TABLE_MIME = "application/vnd.llm-sandbox.table+json"
_TABLE_LIBRARIES = frozenset({"pandas", "polars", "pyarrow"})


def annotate(obj: Any, bundle: Bundle) -> Bundle:
    """Add the type of a displayed object to its bundle.

    Args:
        obj: The object.
        bundle: The bundle that IPython made of the object.

    Returns:
        The bundle, with the type unless it has only text.
    """
    data, metadata = bundle
    if len(data) > 1 and METADATA_KEY not in metadata:
        metadata = {**metadata, METADATA_KEY: {"type": qualified_name(type(obj))}}
    return data, metadata


def install(session: Session) -> None:
    """Annotate every display of the shell.

    Args:
        session: The session of the shell.
    """
    original = session.plain_format

    @functools.wraps(original)
    def format(obj: Any, include: Any = None, exclude: Any = None) -> Bundle:
        handler = session.handler(type(obj))
        if handler is not None:
            bundle = handler(obj, include, exclude)
            if bundle is not None:
                return bundle
        # A repr that draws through savefig is this display already, not one more plot.
        session.quiet += 1
        try:
            data, metadata = original(obj, include, exclude)
        finally:
            session.quiet -= 1
        if data and _may_be_table(type(obj)) and _is_wanted(include, exclude):
            data = _add_table(session, obj, data)
        return annotate(obj, (data, metadata))

    session.shell.display_formatter.format = format


def _may_be_table(kind: type) -> bool:
    if kind.__module__ == "builtins":
        return False
    modules = (str(base.__module__) for base in kind.__mro__)
    return any(module.partition(".")[0] in _TABLE_LIBRARIES for module in modules)


def _is_wanted(include: Any, exclude: Any) -> bool:
    return (not include or TABLE_MIME in include) and (not exclude or TABLE_MIME not in exclude)


def _add_table(session: Session, obj: Any, data: dict[str, Any]) -> dict[str, Any]:
    from .tables import record_of

    record = record_of(obj, session.handles)
    return data if record is None else {**data, TABLE_MIME: record}
