"""A channel of our own, and the environments that py-rattler installs from it."""

import asyncio
import compileall
import sys
from pathlib import Path
from py_compile import PycInvalidationMode

import rattler
from packages import CondaPackage, distribution_packages, python_package
from rattler.index import index_fs

__all__ = ["ENVIRONMENTS", "ROOT_PREFIX", "make_channel", "make_environments", "make_small"]

ROOT_PREFIX = "/opt/conda"
LAUNCHER_PREFIX = "/usr/libexec/micromamba/env"

_KEPT_PACKAGE = 64 << 10
_SCIENCE = ["ipykernel", "matplotlib", "numpy", "pandas", "pillow", "plotly", "seaborn"]

ENVIRONMENTS: dict[str, list[str]] = {
    ROOT_PREFIX: ["greet 1.*"],
    f"{ROOT_PREFIX}/envs/science": ["greet 2.*", "place 2.*", *_SCIENCE],
    f"{ROOT_PREFIX}/envs/plain": ["place 1.*", "python"],
    f"{ROOT_PREFIX}/envs/loud": ["place 1.*", "noise"],
    LAUNCHER_PREFIX: ["python", "py-rattler"],
}
"""Packages by prefix. As in the official image, `base` has no Python."""


def make_channel(channel: Path, work: Path) -> None:
    """Write all packages and the index."""
    for package in (
        python_package(work),
        *distribution_packages([*_SCIENCE, "py-rattler"]),
        *_own_packages(),
    ):
        package.write(channel)
    (channel / "noarch").mkdir()
    asyncio.run(index_fs(channel, write_zst=False, write_shards=False))


def make_small(channel: Path) -> None:
    """Leave only what an installation inside the image may add; the rest is installed there."""
    for package in channel.glob("*/*.conda"):
        if package.stat().st_size > _KEPT_PACKAGE:
            package.unlink()


def _own_packages() -> list[CondaPackage]:
    short = f"{sys.version_info.major}.{sys.version_info.minor}"
    made = []
    for version, name in (("1.0", "base"), ("2.0", "science")):
        greet = CondaPackage("greet", version)
        text = f"#!/bin/sh\necho 'greet {version} for {name}' in {{prefix}}\n"
        greet.add("bin/greet", text, program=True)
        made.append(greet)
        place = CondaPackage("place", version, [f"python {short}.*"])
        place.add(
            f"lib/python{short}/site-packages/place.py",
            f"VERSION = {version!r}\nPREFIX = '{{prefix}}'\n",
        )
        made.append(place)
    late = CondaPackage("late", "1.0", [f"python {short}.*"])
    late.add(f"lib/python{short}/site-packages/late.py", "VERSION = '1.0'\n")
    made.append(late)
    activated = CondaPackage("activated", "1.0")
    noise = CondaPackage("noise", "1.0", ["activated"])
    activated.add(
        "etc/conda/activate.d/activated.sh",
        "export ACTIVATED_DATA=$CONDA_PREFIX/share/activated\n"
        "export ACTIVATED_LINES='one\ntwo=2'\n",
    )
    noise.add(
        "etc/conda/activate.d/noise.sh",
        "echo PATH=/attack\nprintf 'A=1\\0HOME=/attack\\0'\n",
    )
    return [*made, activated, noise]


def make_environments(channel: Path, root: Path, cache: Path) -> None:
    """Solve and install every environment below `root`, for its path in the image."""
    for prefix, specs in ENVIRONMENTS.items():
        wanted = [*specs, "activated"] if prefix.endswith("science") else specs
        target = root / prefix.lstrip("/")
        target.mkdir(parents=True, exist_ok=True)
        asyncio.run(_install(channel, target, prefix, wanted, cache))
        if "ipykernel" in specs or prefix == LAUNCHER_PREFIX:
            _compile(target, prefix)


def _compile(target: Path, prefix: str) -> None:
    """Compile what a kernel loads, as conda's own packages are: it is read-only when it is used."""
    compileall.compile_dir(
        target / "lib",
        quiet=2,
        workers=0,
        stripdir=str(target),
        prependdir=prefix,
        invalidation_mode=PycInvalidationMode.UNCHECKED_HASH,
    )


async def _install(channel: Path, target: Path, prefix: str, specs: list[str], cache: Path) -> None:
    channels = [rattler.Channel(channel.as_uri())]
    records = await rattler.solve(channels, specs, platforms=["linux-64", "noarch"])
    await rattler.install(
        records,
        target,
        cache_dir=cache,
        show_progress=False,
        alternative_target_prefix=prefix,
    )
