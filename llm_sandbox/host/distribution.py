"""Distribution name of the library, and install commands."""

import shlex
import shutil
import sys
from pathlib import Path

__all__ = ["DISTRIBUTION", "install_command", "namesake_version", "pip_install"]

DISTRIBUTION = "sandboxed-interpreter"
"""Name of the distribution; it is imported as `llm_sandbox` and its command is `llm-sandbox`."""

_NAMESAKE = "llm-sandbox"


def install_command(extra: str, *, upgrade: bool = False) -> str:
    """Return the command that installs the packages of an extra.

    It names the packages rather than the extra, so that it works wherever this library was
    installed from: an index, a file or a clone.

    Args:
        extra: Name of the extra in `pyproject.toml`.
        upgrade: Whether a package is installed, but too old.
    """
    # Neither a tree that was never installed nor an older metadata knows the extra; the tree does.
    wanted = _packages(extra) or [f"{Path(__file__).parents[2]}[{extra}]"]
    return pip_install(*(["--upgrade"] if upgrade else []), *wanted)


def pip_install(*words: str) -> str:
    """Return the command that installs packages into the environment of this process.

    Args:
        words: Requirements and options of pip.
    """
    # `pip` alone is readable, and another environment's where this one is not activated.
    found = shutil.which("pip")
    own = found is not None and Path(found).parent == Path(sys.executable).parent
    return shlex.join([*(["pip"] if own else [sys.executable, "-m", "pip"]), "install", *words])


def namesake_version() -> str | None:
    """Return the version of the other distribution with this import name; None if it is absent."""
    from importlib import metadata

    try:
        return metadata.version(_NAMESAKE)
    except metadata.PackageNotFoundError:
        return None


def _packages(extra: str) -> list[str]:
    from importlib import metadata

    from packaging.requirements import Requirement

    try:
        lines = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return []
    found = []
    for wanted in map(Requirement, lines):
        marker, wanted.marker = wanted.marker, None
        if marker and marker.evaluate({"extra": extra}) and not marker.evaluate({"extra": ""}):
            found.append(str(wanted))
    return found
