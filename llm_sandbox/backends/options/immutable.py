"""Immutable, hashable copies of the values that callers pass."""

from collections.abc import Iterator, Mapping
from typing import Any

from llm_sandbox.exceptions import ValidationError

__all__ = ["ImmutableMapping", "to_immutable", "to_mutable"]


class ImmutableMapping(Mapping[str, Any]):
    """Immutable mapping, equal and hashed by value.

    Args:
        entries: Names and values; they are copied.
        name: The parameter to name in an error.

    Raises:
        ValidationError: A value is neither text, number, list, tuple, mapping nor None.
    """

    __slots__ = ("_entries",)

    def __init__(self, entries: Mapping[str, Any], name: str = "value") -> None:
        self._entries = {str(key): to_immutable(entry, name) for key, entry in entries.items()}

    def __getitem__(self, key: str) -> Any:
        return self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __hash__(self) -> int:
        return hash(frozenset(self._entries.items()))

    def __repr__(self) -> str:
        return repr(self._entries)


def to_immutable(value: Any, name: str = "value") -> Any:
    """Return an immutable copy of a value, of tuples and `ImmutableMapping`.

    Args:
        value: Text, numbers, None, and lists, tuples and mappings of such.
        name: The parameter to name in an error.

    Raises:
        ValidationError: It is, or holds, something else.
    """
    if value is None or isinstance(value, str | bytes | int | float):
        return value
    if isinstance(value, Mapping):
        return ImmutableMapping(value, name)
    if isinstance(value, list | tuple):
        return tuple(to_immutable(entry, name) for entry in value)
    raise ValidationError(
        f"{name} may hold text, numbers, lists and mappings, not a {type(value).__name__}",
        parameter=name,
    )


def to_mutable(value: Any) -> Any:
    """Return a copy of an immutable value, of lists and dictionaries as docker-py accepts."""
    if isinstance(value, Mapping):
        return {key: to_mutable(entry) for key, entry in value.items()}
    if isinstance(value, tuple):
        return [to_mutable(entry) for entry in value]
    return value
