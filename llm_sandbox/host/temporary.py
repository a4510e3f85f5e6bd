"""Files without a name, which are gone with the process, however that ends."""

import os
import tempfile

__all__ = ["unnamed_file"]


def unnamed_file() -> int:
    """Make a file, and return its descriptor."""
    with tempfile.TemporaryFile(buffering=0) as file:
        return os.dup(file.fileno())
