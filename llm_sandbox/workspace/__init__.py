"""A folder of the host that programs in sandboxes work in, too, and what they changed there."""

from llm_sandbox.workspace.changes import Change, Changes
from llm_sandbox.workspace.manifest import Entry, Manifest
from llm_sandbox.workspace.workspace import Workspace

__all__ = ["Change", "Changes", "Entry", "Manifest", "Workspace"]
