"""A column of a table."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

__all__ = ["Cell", "Column", "ColumnRole", "ColumnType"]

Cell: TypeAlias = str | int | float | bool | None
"""A value in a table: dates, decimals, lists and other objects are texts, missing ones None."""


class ColumnType(StrEnum):
    """What a column holds, whichever library it is of."""

    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    STRING = "string"
    DATETIME = "datetime"
    DATE = "date"
    TIME = "time"
    DURATION = "duration"
    CATEGORY = "category"
    LIST = "list"
    STRUCT = "struct"
    BINARY = "binary"
    OTHER = "other"

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers."""
        return self in (ColumnType.INTEGER, ColumnType.NUMBER)


class ColumnRole(StrEnum):
    """What a column is to its table."""

    INDEX = "index"
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    name: str
    """Its name; the parts of a composed one are joined by slashes."""
    type: ColumnType = ColumnType.OTHER
    """What it holds."""
    dtype: str = ""
    """What its library calls that; empty when unknown."""
    role: ColumnRole = ColumnRole.VALUE
    """Whether it is data or labels the rows."""
