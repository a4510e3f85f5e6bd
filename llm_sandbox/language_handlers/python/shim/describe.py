"""Type annotations for displays, and the place where plots as last expression are met."""

from __future__ import annotations

import functools
import sys
from typing import Any

from .session import METADATA_KEY, Bundle, Session


def qualified_name(kind: type) -> str:
    """Name a type the way its users write it.

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


def install(session: Session) -> None:
    """Annotate whatever the shell displays.

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
        if len(data) > 1 and METADATA_KEY not in metadata:
            metadata = {**metadata, METADATA_KEY: {"type": qualified_name(type(obj))}}
        return data, metadata

    session.shell.display_formatter.format = format
