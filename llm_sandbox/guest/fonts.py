"""The list of fonts that was made outside, put where matplotlib looks for it."""

import os
import sys

__all__ = ["LISTS", "link_lists"]

LISTS = "/opt/llm_sandbox/fonts"


def link_lists() -> None:
    """Link the lists that there are, before matplotlib asks for them."""
    folder = os.environ.get("MPLCONFIGDIR")
    if not folder or "matplotlib.font_manager" in sys.modules:
        return
    try:
        names = os.listdir(LISTS)
        os.makedirs(folder, exist_ok=True)
        for name in names:
            os.symlink(os.path.join(LISTS, name), os.path.join(folder, name))
    except OSError:
        pass  # there are none, it has one already, or can have none: matplotlib copes with all
