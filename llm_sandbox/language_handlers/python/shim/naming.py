"""Public names of types."""

from __future__ import annotations

import sys


def qualified_name(kind: type) -> str:
    """Return the public name of a type.

    Args:
        kind: The type.

    Returns:
        ``pandas.DataFrame`` rather than ``pandas.core.frame.DataFrame`` where the short path
        leads to the very same type, the full path otherwise.
    """
    module, name = kind.__module__, kind.__qualname__
    if module == "builtins":
        return name
    parts = module.split(".")
    for length in range(1, len(parts)):
        package = ".".join(parts[:length])
        # vars() and not getattr(): a lazy package must not be made to import anything.
        if vars(sys.modules.get(package, sys)).get(name) is kind:
            return f"{package}.{name}"
    return f"{module}.{name}"
