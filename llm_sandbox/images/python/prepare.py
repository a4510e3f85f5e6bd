"""Preparation of the installed packages, run once while the image is built: smaller files, faster
imports.
"""

import compileall
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

PACKAGES = Path(sysconfig.get_path("purelib"))
# Byte code names the time of its source, so one time for all makes equal packages equal files.
EPOCH = 1704067200
# What no program in a sandbox uses: the packages' own tests, and parts for a notebook's server.
TESTED = ("matplotlib", "mpl_toolkits", "numpy", "pandas", "psutil", "tornado", "zmq")
UNUSED = ("plotly/labextension", "tornado/test")


def drop_what_is_not_used() -> None:
    tests = [folder for name in TESTED for folder in (PACKAGES / name).rglob("tests")]
    for folder in [*tests, *(PACKAGES / name for name in UNUSED)]:
        shutil.rmtree(folder, ignore_errors=True)


def list_fonts() -> None:
    """Write the font list to the path where `prebuilt_font_list` expects it."""
    folder = Path(sys.prefix, "share", "matplotlib")
    folder.mkdir(parents=True)
    subprocess.run(
        [sys.executable, "-c", "import matplotlib.font_manager"],
        env={**os.environ, "MPLCONFIGDIR": str(folder)},
        check=True,
    )
    for path in folder.iterdir():
        if not path.name.startswith("fontlist-"):
            path.unlink()


def compile_everything() -> None:
    for folder, _, names in os.walk(sys.prefix):
        for name in names:
            os.utime(Path(folder, name), (EPOCH, EPOCH), follow_symlinks=False)
    if not compileall.compile_dir(PACKAGES, quiet=2, workers=0):
        raise SystemExit("the code of some package cannot be compiled")


if __name__ == "__main__":
    drop_what_is_not_used()
    shutil.copytree(Path(__file__).parent / "site", PACKAGES, dirs_exist_ok=True)
    list_fonts()
    compile_everything()
