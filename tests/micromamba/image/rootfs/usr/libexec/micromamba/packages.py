"""`micromamba install` and `micromamba clean`, by py-rattler."""

import argparse
import asyncio
import os
import shutil
import sys
from pathlib import Path

import rattler

ROOT = os.environ.get("MAMBA_ROOT_PREFIX", "/opt/conda")


def critical(words: object) -> None:
    """End as micromamba does."""
    print(f"critical libmamba {words}", file=sys.stderr)
    sys.exit(1)


async def install(
    prefix: Path, records: list[rattler.PrefixRecord], channels: list[str], specs: list[str]
) -> None:
    """Add packages to an environment, keeping those that it has."""
    solved = await rattler.solve(
        [rattler.Channel(channel) for channel in channels],
        [*specs, *(record.name.normalized for record in records)],
        platforms=["linux-64", "noarch"],
        locked_packages=records,
    )
    cache = Path(ROOT) / "pkgs"
    await rattler.install(solved, prefix, cache_dir=cache, installed_packages=records)
    known = {record.name.normalized for record in records}
    for record in solved:
        if record.name.normalized not in known:
            print(f"  + {record.name.normalized}  {record.version}")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser("micromamba")
    parser.add_argument("command", choices=["install", "clean"])
    parser.add_argument("-y", "--yes", action="store_true")
    parser.add_argument("-a", "--all", action="store_true")
    parser.add_argument("-n", "--name", default="base")
    parser.add_argument("-p", "--prefix")
    parser.add_argument("-c", "--channel", action="append")
    parser.add_argument("specs", nargs="*")
    options = parser.parse_intermixed_args()
    if options.command == "clean":
        shutil.rmtree(Path(ROOT) / "pkgs", ignore_errors=True)
        return
    prefix = options.prefix or (ROOT if options.name == "base" else f"{ROOT}/envs/{options.name}")
    if not Path(prefix, "conda-meta").is_dir():
        critical(f'The given prefix does not exist: "{prefix}"')
    channels = options.channel or os.environ.get("CONDA_CHANNELS", "conda-forge").split(",")
    found = Path(prefix).glob("conda-meta/*.json")
    try:
        records = [rattler.PrefixRecord.from_path(path) for path in found]
        asyncio.run(install(Path(prefix), records, channels, options.specs))
    except Exception as error:  # noqa: BLE001 - whatever it was, it is said and ends the program
        critical(error)


status = 0
try:
    main()
except SystemExit as end:
    status = end.code if isinstance(end.code, int) else 1
sys.stdout.flush()
sys.stderr.flush()
# Threads of py-rattler outlive its calls, and one that ends while the interpreter finalizes ends
# the process by SIGSEGV or SIGABRT: nearly every second time on a busy machine.
os._exit(status)
