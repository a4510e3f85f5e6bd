"""Gets the sdists of `sources.toml` with pip, outside of this tree, and unpacks their examples.

pip asks a package's builder for its name even when it only downloads. It is given a builder of ours
by every name that these packages use, so that no code of theirs is run.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

__all__ = ["FetchError", "Origin", "fetch", "origins"]

HERE = Path(__file__).parent
SOURCES = HERE / "sources.toml"
BUILDERS = ("setuptools/build_meta", "hatchling/build", "flit_core/buildapi", "mesonpy")
BUILDER = HERE / "stand_in_builder.py"
SECONDS = 900


class FetchError(Exception):
    """The packages could not be had."""


@dataclass(frozen=True)
class Origin:
    """A package that programs come from."""

    name: str
    version: str
    sha256: str
    license: str
    what: str
    files: tuple[str, ...]


@cache
def origins() -> tuple[Origin, ...]:
    """Return all of them."""
    data = tomllib.loads(SOURCES.read_text(encoding="utf-8"))
    return tuple(
        Origin(name, **{**row, "files": tuple(row["files"])}) for name, row in data.items()
    )


@cache
def fetch() -> Path:
    """Return a folder with one folder of examples for each origin; it is made once and kept.

    It is `LLM_SANDBOX_TEST_CACHE`, or a folder of the user's cache directory.

    Raises:
        FetchError: pip could not get them.
    """
    cached = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    root = Path(os.environ.get("LLM_SANDBOX_TEST_CACHE") or Path(cached) / "llm-sandbox-tests")
    mark = hashlib.sha256(SOURCES.read_bytes()).hexdigest()[:16]
    folder = root / f"programs-{mark}"
    try:
        root.mkdir(parents=True, exist_ok=True)
        with (root / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not folder.exists():
                with tempfile.TemporaryDirectory(dir=root) as scratch:
                    _fill(Path(scratch))
                    (Path(scratch) / "examples").rename(folder)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FetchError(f"the programs could not be stored: {error}") from error
    return folder


def _fill(scratch: Path) -> None:
    builders = scratch / "builders"
    for name in BUILDERS:
        path = builders / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / "__init__.py").touch()
        shutil.copy(BUILDER, path)
    wanted = scratch / "wanted.txt"
    lines = [f"{o.name}=={o.version} --hash=sha256:{o.sha256}\n" for o in origins()]
    wanted.write_text("".join(lines), encoding="utf-8")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"),
            *("--no-build-isolation", "--no-binary", ":all:", "--require-hashes"),
            *("--disable-pip-version-check", "--requirement", wanted, "--dest", scratch / "sdists"),
        ],
        env={**os.environ, "PYTHONPATH": str(builders)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    if done.returncode:
        words = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise FetchError(f"pip could not get them: {' '.join(words)[:300] or done.stderr[-300:]}")
    for origin in origins():
        # Old packages keep the dash in their file's name.
        name = origin.name.replace("-", "[-_]")
        (archive,) = (scratch / "sdists").glob(f"{name}-{origin.version}.tar.gz")
        _unpack(archive, origin, scratch / "examples" / origin.name)


def _unpack(archive: Path, origin: Origin, folder: Path) -> None:
    with tarfile.open(archive) as tar:
        for member in tar:
            inside = PurePosixPath(*PurePosixPath(member.name).parts[1:])
            if member.isfile() and any(_matches(inside, pattern) for pattern in origin.files):
                file = tar.extractfile(member)
                assert file is not None
                target = folder / inside
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(file.read())


def _matches(path: PurePosixPath, pattern: str) -> bool:
    before, crosses, name = pattern.partition("**/")
    if not crosses:
        return path.match(pattern) and len(path.parts) == pattern.count("/") + 1
    return str(path).startswith(before) and path.match(name)
