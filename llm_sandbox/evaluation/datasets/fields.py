"""Fields of records, read with their types."""

from collections.abc import Iterator, Mapping
from typing import Any

from llm_sandbox.evaluation.datasets.json_text import parse_json, spelled
from llm_sandbox.exceptions import ValidationError

__all__ = ["Fields", "check_text", "mismatch"]

_MOST = 1e18


def mismatch(name: str, expected: str, value: object) -> ValidationError:
    """Return the error of a field of another type; it names the type, never the value."""
    return ValidationError(
        f"invalid {name}: expected {expected}, got {spelled(value)}", parameter=name
    )


def check_text(name: str, value: object) -> str:
    """Return a text that can be encoded.

    Raises:
        ValidationError: It is of another type, or has lone surrogates.
    """
    if not isinstance(value, str):
        raise mismatch(name, "text", value)
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise ValidationError(
                f"invalid {name}: expected text, got a lone surrogate at {error.start}",
                parameter=name,
            ) from None
    return value


class Fields:
    """Fields of one record.

    Args:
        values: The record.
        where: Path of the record within the line, for errors; empty for the line itself.

    Raises:
        ValidationError: `values` is not a mapping; raised by each method for a field of another
            type, or one that is missing.
    """

    def __init__(self, values: object, where: str = "") -> None:
        if not isinstance(values, Mapping):
            raise mismatch(where or "record", "an object", values)
        self._values: Mapping[str, Any] = values
        self._where = where

    def __contains__(self, name: str) -> bool:
        """Return whether a field is there, and is not null."""
        return self._values.get(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def path(self, name: str) -> str:
        """Return the path of a field, for errors."""
        return f"{self._where}.{name}" if self._where else name

    def any(self, name: str) -> Any:
        """Return a field of any type; None if it is missing."""
        return self._values.get(name)

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text.

        Args:
            name: The field.
            default: Value of a field that is missing or null; None to refuse that.
        """
        value = self._values.get(name)
        if value is None and default is not None:
            return default
        if value is None:
            raise self._missing(name, "text")
        return check_text(self.path(name), value)

    def label(self, name: str) -> str:
        """Return a text or a whole number, as text that is not empty: an identifier."""
        value = self._values.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        found = self.text(name)
        if not found:
            raise ValidationError(
                f"invalid {self.path(name)}: expected text, got an empty one",
                parameter=self.path(name),
            )
        return found

    def number(self, name: str) -> float | None:
        """Return a finite number; None if it is missing or null."""
        value = self._values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise mismatch(self.path(name), "a number", value)
        if not -_MOST <= value <= _MOST:
            raise ValidationError(
                f"invalid {self.path(name)}: expected a number within {_MOST}, got another",
                parameter=self.path(name),
            )
        return value

    def items(self, name: str) -> list[Any]:
        """Return a list; empty if it is missing or null."""
        value = self._values.get(name)
        if value is None:
            return []
        if not isinstance(value, list | tuple):
            raise mismatch(self.path(name), "a list", value)
        return list(value)

    def texts(self, name: str) -> list[str]:
        """Return a list of texts; empty if it is missing or null."""
        path = self.path(name)
        return [check_text(f"{path}[{i}]", item) for i, item in enumerate(self.items(name))]

    def fields(self, name: str) -> "Fields":
        """Return an object, which may be given as a JSON text."""
        return Fields(self.parsed(name), self.path(name))

    def records(self, name: str) -> "list[Fields]":
        """Return a list of objects, which may be given as a JSON text; empty if it is missing."""
        if name not in self:
            return []
        path, value = self.path(name), self.parsed(name)
        if not isinstance(value, list | tuple):
            raise mismatch(path, "a list", value)
        return [Fields(item, f"{path}[{i}]") for i, item in enumerate(value)]

    def parsed(self, name: str) -> Any:
        """Return a value, which may be given as a JSON text."""
        value = self._values.get(name)
        if value is None:
            raise self._missing(name, "a value")
        return parse_json(value, self.path(name)) if isinstance(value, str) else value

    def _missing(self, name: str, expected: str) -> ValidationError:
        got = "null" if name in self._values else "no such field"
        return ValidationError(
            f"invalid {self.path(name)}: expected {expected}, got {got}", parameter=self.path(name)
        )
