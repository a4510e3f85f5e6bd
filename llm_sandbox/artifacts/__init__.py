"""Artifacts: the results of a run as data, and the file formats they come in.

An `Artifact` is one display or file of a run: start at `artifact`, then `displays` and `files`,
which create them. `identify` recognises files by their bytes, with the formats in `formats`, which
`registry` lists; content from inside is never decoded or rendered here.
"""

from llm_sandbox.artifacts.artifact import Artifact
from llm_sandbox.artifacts.types import ArtifactType

__all__ = ["Artifact", "ArtifactType"]
