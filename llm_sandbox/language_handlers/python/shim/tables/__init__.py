"""Table records: the columns, types and first and last rows of what pandas and its like display.

Only what is shown is ever converted, so that a record of ten million rows costs what one of a
hundred does.
"""

from __future__ import annotations

from .record import record_of

__all__ = ["record_of"]
