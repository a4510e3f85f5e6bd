"""Detection of table objects and their libraries."""

from __future__ import annotations

import sys
from typing import Any

_CLASSES = {
    "pandas": ("DataFrame", "Series"),
    "polars": ("DataFrame", "Series"),
    "pyarrow": ("Table", "RecordBatch", "ChunkedArray"),
}
_STYLE = "pandas.io.formats.style"


def recognise(value: Any) -> tuple[str, Any] | None:
    """Return the library and the table of an object, if it is a table.

    Args:
        value: Anything.

    Returns:
        The library and the table itself, which for a pandas ``Styler`` is its data; else ``None``.
    """
    for base in type(value).__mro__:
        module, name = str(base.__module__), base.__name__
        library = module.partition(".")[0]
        if name in _CLASSES.get(library, ()) and _holds(library, name, base):
            return library, value
        if module == _STYLE and name == "Styler" and _holds(_STYLE, name, base):
            return recognise(value.data)
    return None


def _holds(module: str, name: str, kind: type) -> bool:
    loaded = sys.modules.get(module)
    return loaded is not None and vars(loaded).get(name) is kind
