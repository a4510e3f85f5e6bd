"""Tables as data: columns with their types, the shape, and the first and last rows."""

from llm_sandbox.results.tables.table import Cell, Column, ColumnRole, ColumnType, Table

__all__ = ["Cell", "Column", "ColumnRole", "ColumnType", "Table"]
