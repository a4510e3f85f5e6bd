"""Tables as data: columns with their types, the shape, and the first and last rows."""

from llm_sandbox.tables.column import Cell, Column, ColumnRole, ColumnType
from llm_sandbox.tables.table import Table

__all__ = ["Cell", "Column", "ColumnRole", "ColumnType", "Table"]
