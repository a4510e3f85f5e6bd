"""Names for displayed objects, by which more of them can be asked for later."""

from __future__ import annotations

import itertools
import os
import weakref
from collections import OrderedDict
from typing import Any

_MOST = 64


class Handles:
    """Remembers the objects that were displayed last, without keeping them alive."""

    def __init__(self) -> None:
        self._shown: OrderedDict[str, weakref.ref[Any]] = OrderedDict()
        self._numbers = itertools.count(1)

    def name(self, value: Any) -> str:
        """Give an object its handle.

        Args:
            value: What is displayed.

        Returns:
            The handle it has already, or a new one.

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
        """Look a displayed object up.

        Args:
            handle: Its handle.

        Returns:
            The object; ``None`` if it is gone or too many were displayed since.
        """
        shown = self._shown.get(handle)
        return None if shown is None else shown()
