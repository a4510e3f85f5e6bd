"""Table records: columns, types, and first and last rows of displayed data frames.

Only the shown cells are converted, so that ten million rows cost as much as a hundred.
"""

from __future__ import annotations

from .record import record_of

__all__ = ["record_of"]
