"""Codec of values: a JSON header and raw bytes for plain data, arrays and tables, never code.

Both ends use this package, so that what one writes the other reads. Decoding runs no code: types
are identified by names of this package only, sizes are checked before anything is allocated, and
the bytes of a header and a blob can become no more than a small multiple of themselves.
"""

from __future__ import annotations

from .codec import LARGEST, decode, encode
from .failures import (
    MalformedError,
    MissingLibraryError,
    NotTransferableError,
    TooLargeError,
    TransferError,
)

__all__ = [
    "LARGEST",
    "MalformedError",
    "MissingLibraryError",
    "NotTransferableError",
    "TooLargeError",
    "TransferError",
    "decode",
    "encode",
]
