"""Figures that came back, saved as files."""

import contextlib
from collections.abc import Sequence
from pathlib import Path

from llm_sandbox.cli.endings import usage_error
from llm_sandbox.cli.render import say
from llm_sandbox.exceptions import SandboxError
from llm_sandbox.plots import PlotOutput

__all__ = ["make_directory", "save_figures"]


def make_directory(path: Path) -> None:
    """Make the directory for figures, before anything is run for them."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        hint = "--out takes a directory" if path.is_file() else None
        usage_error(f"cannot save figures in {path}: {error.strerror}", hint)


def save_figures(plots: Sequence[PlotOutput], directory: Path, first: int = 1) -> int:
    """Save figures as ``figure-N``, and say where they are.

    Returns:
        How many were saved.
    """
    saved = 0
    for number, plot in enumerate(plots, start=first):
        with contextlib.suppress(SandboxError):  # trust: what is not a file's content is left out
            try:
                path = plot.save(directory / f"figure-{number}")
            except OSError as error:
                say(f"figure {number} could not be saved: {error.strerror}")
                continue
            size = f" ({plot.width} x {plot.height} pixels)" if plot.width and plot.height else ""
            say(f"figure {number}: {path}{size}")
            saved += 1
    return saved
