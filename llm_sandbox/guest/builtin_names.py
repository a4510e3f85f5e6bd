"""The interpreter's built-in names, which code may replace and Jupyter's own code needs."""

import builtins
from typing import Any

_PASSED_OVER = frozenset({"_", "__", "___", "input", "getpass"})
"""What IPython itself replaces from cell to cell."""


class BuiltinNames:
    """Gives cells the built-in names that cells before have replaced, and all else the right ones.

    One that is deleted, or replaced by what cannot be called, comes back for good: nothing would
    work without it.
    """

    def __init__(self) -> None:
        self._all = vars(builtins)
        self._names = [name for name in self._all if name not in _PASSED_OVER]
        self._own = [self._all[name] for name in self._names]
        self._changed: dict[str, Any] = {}

    def enter(self) -> None:
        """Before a cell's code: put back what earlier cells replaced."""
        if self._changed:
            self._all.update(self._changed)
            self._changed = {}

    # It is given the names that it needs, as none may be left when it is called.
    def leave(
        self, *, map: Any = map, list: Any = list, zip: Any = zip, callable: Any = callable
    ) -> bool:
        """After a cell's code: undo what it replaced; returns whether there was anything."""
        present = list(map(self._all.get, self._names))
        if present == self._own:
            return False
        for name, own, value in zip(self._names, self._own, present):
            if value is not own:
                self._all[name] = own
                if callable(value) and callable(own):
                    self._changed[name] = value
        return True
