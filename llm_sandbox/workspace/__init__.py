"""Workspaces: host folders shared with programs in sandboxes, and their changes."""

from llm_sandbox.workspace.changes import Change, Changes
from llm_sandbox.workspace.manifest import Entry, Manifest
from llm_sandbox.workspace.workspace import Workspace

__all__ = ["Change", "Changes", "Entry", "Manifest", "Workspace"]
