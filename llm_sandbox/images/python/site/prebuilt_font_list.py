"""Import hook that gives matplotlib the font list built with the image.

Matplotlib looks for the list in `MPLCONFIGDIR` only, which is empty in a fresh sandbox, and would
read each font anew: 0.4 s of the first plot. Every Python loads this module through the `.pth` file
beside it.
"""

import sys


class _WhenMatplotlibComes:
    """Import finder that finds nothing, but is called before each import."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name == "matplotlib":
            sys.meta_path.remove(_WhenMatplotlibComes)
            _link_lists()


def _link_lists() -> None:
    import os

    folder = os.environ.get("MPLCONFIGDIR")
    if not folder:
        return
    lists = os.path.join(sys.prefix, "share", "matplotlib")
    try:
        os.makedirs(folder, exist_ok=True)
        for name in os.listdir(lists):
            os.symlink(os.path.join(lists, name), os.path.join(folder, name))
    except OSError:
        pass  # it has a list already, or cannot have one: matplotlib copes with both


sys.meta_path.insert(0, _WhenMatplotlibComes)
