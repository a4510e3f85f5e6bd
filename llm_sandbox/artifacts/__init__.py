"""Which file formats are recognised in what a run shows, and which displays are plots.

One file per family of formats, each with its own bounded header parser: content from inside is
measured, never decoded or rendered. Start at `base.ArtifactKind`, then `registry`, then `plots`.
"""

from llm_sandbox.artifacts.base import ArtifactKind, Dimensions
from llm_sandbox.artifacts.plots import plot_from_display

__all__ = ["ArtifactKind", "Dimensions", "plot_from_display"]
