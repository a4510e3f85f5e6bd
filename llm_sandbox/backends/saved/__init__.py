"""Snapshots that are files of this computer: the store of the user's own."""

from llm_sandbox.backends.saved.record import SavedRecord
from llm_sandbox.backends.saved.store import Saving, Store

__all__ = ["SavedRecord", "Saving", "Store"]
