#!/opt/python/bin/python
"""Smoke test of the finished image: fails unless it has what a Python session needs.

Conditions of a session: uid 65532, no network, nothing writable but /tmp and the working directory.
"""

import importlib
import io
import os
import shutil
import stat
import sys
from importlib import metadata
from pathlib import Path

MODULES = [
    "ipykernel",
    "ipykernel.ipkernel",
    "matplotlib",
    "matplotlib_inline",
    "numpy",
    "pandas",
    "PIL",
    "plotly",
    "plotly.express",
    "seaborn",
]


def check_user() -> None:
    assert os.getuid() == 65532, f"uid {os.getuid()} instead of 65532"
    assert Path.cwd() == Path("/sandbox"), f"the working directory is {Path.cwd()}"
    assert os.access("/sandbox", os.W_OK), "the working directory is not writable"
    for place in ("/etc", "/opt/python", "/usr/bin"):
        assert not os.access(place, os.W_OK), f"{place} is writable"


def check_no_privileged_programs() -> None:
    for folder, _, names in os.walk("/"):
        if folder.startswith(("/proc", "/sys", "/dev")):
            continue
        for name in names:
            mode = Path(folder, name).lstat().st_mode
            raised = stat.S_ISREG(mode) and mode & (stat.S_ISUID | stat.S_ISGID)
            assert not raised, f"{folder}/{name} is setuid or setgid"


def check_programs() -> None:
    for name in ("python", "python3"):
        found = shutil.which(name)
        assert found == f"/opt/python/bin/{name}", f"{name} on PATH is {found}"
    for name in ("bash", "ps", "sh"):
        assert shutil.which(name), f"{name} is not there"
    assert Path("/etc/ssl/certs/ca-certificates.crt").stat().st_size, "no certificates"


def check_imports() -> None:
    for name in MODULES:
        importlib.import_module(name)
    for name in (
        "ipykernel",
        "matplotlib",
        "numpy",
        "pandas",
        "pillow",
        "pip",
        "plotly",
        "seaborn",
    ):
        print(f"{name:12} {metadata.version(name)}")


def check_byte_code() -> None:
    """Check that every module is compiled: the root is read-only in a session, which would
    otherwise compile it again each time.
    """
    for name, module in sorted(sys.modules.items()):
        source = getattr(module, "__file__", None) or ""
        cached = getattr(module, "__cached__", None)
        if name == "__main__" or not source.endswith(".py") or cached is None:
            continue
        assert Path(cached).is_file(), f"{name} has no byte code"
        compiled_from = int.from_bytes(Path(cached).read_bytes()[8:12], "little")
        assert compiled_from == int(Path(source).stat().st_mtime), f"byte code of {name} is stale"


def check_font_list() -> None:
    from matplotlib import font_manager, get_cachedir

    found = list(Path(get_cachedir()).glob("fontlist-*.json"))
    assert found, "matplotlib has no list of fonts"
    assert found[0].is_symlink(), "matplotlib read every font: the image's list was not found"
    font = font_manager.findfont("DejaVu Sans", fallback_to_default=False)
    assert Path(font).is_file(), f"{font} is not there"


def check_plot() -> None:
    import matplotlib.pyplot as plt
    import pandas as pd
    import seaborn as sns
    from PIL import Image

    assert plt.get_backend().lower() == "agg", plt.get_backend()
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


def check_interactive_plot() -> None:
    import plotly.express as px

    page = px.scatter(x=[1, 2, 3], y=[3, 1, 2]).to_html(include_plotlyjs=True)
    assert len(page) > 1_000_000, "plotly's own script is not in its page"


if __name__ == "__main__":
    os.environ.setdefault("MPLCONFIGDIR", "/tmp/.matplotlib")
    check_user()
    check_no_privileged_programs()
    check_programs()
    check_imports()
    check_byte_code()
    check_font_list()
    check_plot()
    check_interactive_plot()
    print("python      ", sys.version.split()[0])
