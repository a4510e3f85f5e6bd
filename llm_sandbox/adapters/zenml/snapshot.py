"""Snapshots of sessions, as references."""

from typing import Any
from uuid import UUID

from pydantic import BaseModel, Field

__all__ = ["SandboxSnapshot"]


class SandboxSnapshot(BaseModel):
    """Reference to a saved session, from which its component restores others. It holds no files and
    no secrets.
    """

    sandbox_id: UUID = Field(description="Id of the component that saved it, and may restore it.")
    ref: str = Field(description="What was saved, as its component says it.")
    metadata: dict[str, Any] = Field(default_factory=dict, description="More about it; JSON-able.")
