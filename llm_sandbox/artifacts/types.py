"""What an artifact is to whoever looks at it, whatever its format."""

from enum import StrEnum

__all__ = ["ArtifactType"]


class ArtifactType(StrEnum):
    """What an artifact is; the value is its name in records."""

    FIGURE = "figure"
    """A drawing of a plotting library."""
    IMAGE = "image"
    """A picture."""
    TABLE = "table"
    """Rows and columns."""
    HTML = "html"
    """A page or a piece of one."""
    TEXT = "text"
    """Words: prose, source, configuration."""
    MATH = "math"
    """A formula."""
    JSON = "json"
    """Structured data, as text."""
    MAP = "map"
    """Places and shapes on the Earth."""
    AUDIO = "audio"
    """Sound."""
    VIDEO = "video"
    """Moving pictures, with sound or without."""
    DOCUMENT = "document"
    """Pages, sheets or slides."""
    ARCHIVE = "archive"
    """Something packed: other files, or one in fewer bytes."""
    NOTEBOOK = "notebook"
    """Cells of code with their outputs."""
    DATA = "data"
    """Bytes that a program reads."""
    LINK = "link"
    """A name that points somewhere else."""
    OTHER = "other"
    """None of these."""
