"""Bases and build steps of an image, as plain data and as Dockerfile lines."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from llm_sandbox.adapters.modal.exception import InvalidError
from llm_sandbox.backends.snapshot import Snapshot

__all__ = [
    "Base",
    "Copy",
    "DockerfileBase",
    "Lines",
    "NamedBase",
    "Packages",
    "SlimBase",
    "SnapshotBase",
    "Step",
    "copy_into",
    "env_line",
    "run_line",
]


@dataclass(frozen=True)
class SlimBase:
    """This library's Python image; on backends without images, this machine's Python."""

    python: str | None = None
    """Requested version, such as ``3.11``; None for any."""


@dataclass(frozen=True)
class NamedBase:
    """Image of the engine or of a registry, by name or id."""

    name: str


@dataclass(frozen=True)
class DockerfileBase:
    """Image built from a Dockerfile."""

    path: Path
    context: Path
    build_args: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class SnapshotBase:
    """Snapshot of a sandbox."""

    snapshot: Snapshot


Base: TypeAlias = SlimBase | NamedBase | DockerfileBase | SnapshotBase
"""Base of an image."""


@dataclass(frozen=True)
class Lines:
    """Lines of a Dockerfile."""

    text: tuple[str, ...]
    context: tuple[tuple[str, Path], ...] = ()
    """Files and folders of this machine for ``COPY``, by name in the build context."""
    is_fresh: bool = False
    """Bypass of the build cache."""


@dataclass(frozen=True)
class Copy:
    """File or folder of this machine, copied to a path."""

    local: Path
    remote: str


@dataclass(frozen=True)
class Packages:
    """Python packages installed with pip."""

    words: tuple[str, ...]
    """Requirements, as arguments of pip."""
    options: tuple[str, ...] = ()
    """Options of pip."""
    is_fresh: bool = False


Step: TypeAlias = Lines | Copy | Packages
"""Build step of an image."""


def run_line(command: str, env: Mapping[str, str] | None = None) -> str:
    """Return the Dockerfile line that runs a shell command, with variables of that step only."""
    import shlex

    exports = "".join(
        f"export {name}={shlex.quote(value)}; " for name, value in (env or {}).items()
    )
    return f"RUN {json.dumps(['/bin/sh', '-c', exports + command])}"


def env_line(name: str, value: str) -> str:
    """Return the Dockerfile line that sets an environment variable.

    Raises:
        InvalidError: The value has a line break.
    """
    if "\n" in value or "\r" in value:
        raise InvalidError(f"the value of {name} has a line break, which images do not keep")
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
    return f'ENV {name}="{escaped}"'


def copy_into(context: Path, name: str, source: Path) -> None:
    """Copy a file or folder into a build context."""
    if source.is_dir():
        shutil.copytree(source, context / name, symlinks=True, dirs_exist_ok=True)
    else:
        (context / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, context / name)
