"""What a run made, as data: artifacts, and the file formats they come in.

An `Artifact` is one thing that was shown or written: start at `artifact`, then `displays` and
`files`, where they come from. What a file is, `identify` says by its bytes, with the formats in
`formats`, which `registry` lists; content from inside is never decoded or rendered here.
"""

from llm_sandbox.artifacts.artifact import Artifact
from llm_sandbox.artifacts.types import ArtifactType

__all__ = ["Artifact", "ArtifactType"]
