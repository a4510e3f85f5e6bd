"""Fails unless the image holds what a Python session needs: packages, a plot, and no privileges."""

import importlib
import io
import os
import sys
import tempfile
from pathlib import Path

MODULES = [
    "ipykernel",
    "matplotlib",
    "matplotlib_inline",
    "numpy",
    "pandas",
    "PIL",
    "plotly",
    "seaborn",
]


def check_imports() -> None:
    for name in MODULES:
        module = importlib.import_module(name)
        print(f"{name:18} {getattr(module, '__version__', '')}")


def check_plot() -> None:
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt
    import pandas as pd
    import seaborn as sns
    from PIL import Image

    frame = pd.DataFrame({"x": [1, 2, 3, 4], "y": [1, 4, 9, 16]})
    sns.lineplot(frame, x="x", y="y")
    buffer = io.BytesIO()
    plt.savefig(buffer, format="png", dpi=100)
    with Image.open(buffer) as image:
        assert image.format == "PNG", image.format
        assert image.size == (640, 480), image.size
        colours = image.convert("RGB").getcolors(maxcolors=1 << 20)
    assert colours is not None
    assert len(colours) > 2, "the figure is blank"


def check_user() -> None:
    assert os.getuid() == 65532, f"uid {os.getuid()} instead of 65532"
    assert not os.access("/etc", os.W_OK), "/etc is writable"


if __name__ == "__main__":
    # Neither the home folder nor the image need be writable for a plot.
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("MPLCONFIGDIR", str(Path(folder)))
        check_user()
        check_imports()
        check_plot()
    print("ok", sys.version.split()[0])
