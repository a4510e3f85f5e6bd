"""Handles of displayed objects, by which the host can request more of their data."""

from __future__ import annotations

import itertools
import os
import weakref
from collections import OrderedDict
from typing import Any

_MOST = 64


class Handles:
    """Weak references to the objects that were displayed last."""

    def __init__(self) -> None:
        self._shown: OrderedDict[str, weakref.ref[Any]] = OrderedDict()
        self._numbers = itertools.count(1)

    def name(self, value: Any) -> str:
        """Return the handle of an object.

        Args:
            value: The displayed object.

        Returns:
            The existing handle, or a new one.

        Raises:
            TypeError: The object cannot be weakly referenced.
        """
        for handle, shown in self._shown.items():
            if shown() is value:
                self._shown.move_to_end(handle)
                return handle
        # The random part keeps a handle of an interpreter that has ended from meaning another.
        handle = f"table-{next(self._numbers)}-{os.urandom(4).hex()}"
        self._shown[handle] = weakref.ref(value)
        while len(self._shown) > _MOST:
            self._shown.popitem(last=False)
        return handle

    def find(self, handle: str) -> Any:
        """Return a displayed object by its handle.

        Args:
            handle: The handle.

        Returns:
            The object; ``None`` if it no longer exists or too many were displayed since.
        """
        shown = self._shown.get(handle)
        return None if shown is None else shown()
