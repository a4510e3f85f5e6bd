"""Names and what they are bound to, in order and over branches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from llm_sandbox.security.python.values import Value, join

if TYPE_CHECKING:
    from llm_sandbox.security.python.values import Class

__all__ = ["Scope"]


class Scope:
    """The names of a module, class, function or comprehension.

    Args:
        kind: What it belongs to.
        parent: The scope around it, in which names are looked up that it lacks.
        owner: The class whose body or method it is.
    """

    __slots__ = ("blocks", "elsewhere", "kind", "owner", "parent", "values")

    def __init__(
        self,
        kind: Literal["module", "class", "function", "comprehension"],
        parent: Scope | None = None,
        owner: Class | None = None,
    ) -> None:
        self.kind = kind
        self.parent = parent
        self.owner = owner
        self.values: dict[str, Value | None] = {}
        self.blocks: dict[str, int] = {}
        self.elsewhere: dict[str, Scope] = {}

    @property
    def module(self) -> Scope:
        """The outermost scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def bind(self, name: str, value: Value | None, block: int) -> None:
        """Bind a name.

        A branch adds to what the name was before it; only the branch that bound it, or one around
        that, replaces. Branches are numbered as they open, so that one opened within another has
        the greater number.
        """
        if self.elsewhere and name in self.elsewhere:
            other = self.elsewhere[name]
            if other is not self:
                other.bind(name, join(other.values.get(name), value), block)
                return
        if block:
            if name in self.values and self.blocks.get(name, 0) < block:
                value = join(self.values[name], value)
            self.blocks[name] = block
        elif self.blocks:
            self.blocks.pop(name, None)
        self.values[name] = value

    def find(self, name: str) -> Scope | None:
        """Return the scope that binds a name as seen from here; None when none does."""
        scope: Scope | None = self
        first = True
        while scope is not None:
            if name in scope.values and (first or scope.kind != "class"):
                return scope
            first = False
            scope = scope.parent
        return None
