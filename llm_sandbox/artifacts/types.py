"""Types of artifacts for users, independent of the format."""

from enum import StrEnum

__all__ = ["ArtifactType"]


class ArtifactType(StrEnum):
    """Type of an artifact; the value is its name in records."""

    FIGURE = "figure"
    """Drawing of a plotting library."""
    IMAGE = "image"
    """Picture."""
    TABLE = "table"
    """Rows and columns."""
    HTML = "html"
    """Page or fragment."""
    TEXT = "text"
    """Prose, source code or configuration."""
    MATH = "math"
    """Formula."""
    JSON = "json"
    """Structured data, as text."""
    MAP = "map"
    """Geographic data."""
    AUDIO = "audio"
    """Audio."""
    VIDEO = "video"
    """Video, with or without audio."""
    DOCUMENT = "document"
    """Pages, sheets or slides."""
    ARCHIVE = "archive"
    """Compressed file or archive."""
    NOTEBOOK = "notebook"
    """Cells of code with their outputs."""
    DATA = "data"
    """Binary data."""
    LINK = "link"
    """Symbolic link."""
    OTHER = "other"
    """Anything else."""
