"""What an image is made of: a base, and steps on top of it. Plain data, and its Dockerfile."""

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
    """This library's own image of Python; where there are no images, this machine's Python."""

    python: str | None = None
    """The version that was asked for, such as ``3.11``; None for any."""


@dataclass(frozen=True)
class NamedBase:
    """An image of the engine or of a registry, by its name or id."""

    name: str


@dataclass(frozen=True)
class DockerfileBase:
    """An image that a Dockerfile describes."""

    path: Path
    context: Path
    build_args: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class SnapshotBase:
    """A saved sandbox."""

    snapshot: Snapshot


Base: TypeAlias = SlimBase | NamedBase | DockerfileBase | SnapshotBase
"""What steps stand on."""


@dataclass(frozen=True)
class Lines:
    """Lines of a Dockerfile."""

    text: tuple[str, ...]
    context: tuple[tuple[str, Path], ...] = ()
    """Files and folders of this machine that they copy, by name in the context."""
    is_fresh: bool = False
    """Whether what was built of them before does not count."""


@dataclass(frozen=True)
class Copy:
    """A file or folder of this machine, which comes to lie at a path."""

    local: Path
    remote: str


@dataclass(frozen=True)
class Packages:
    """Python packages, by pip."""

    words: tuple[str, ...]
    """What is to be installed, as pip's arguments."""
    options: tuple[str, ...] = ()
    """How: where pip finds packages, and which."""
    is_fresh: bool = False


Step: TypeAlias = Lines | Copy | Packages
"""What changes an image."""


def run_line(command: str, env: Mapping[str, str] | None = None) -> str:
    """The line that runs a command in a shell, with variables that the image does not keep."""
    import shlex

    exports = "".join(
        f"export {name}={shlex.quote(value)}; " for name, value in (env or {}).items()
    )
    return f"RUN {json.dumps(['/bin/sh', '-c', exports + command])}"


def env_line(name: str, value: str) -> str:
    """The line that sets a variable for good.

    Raises:
        InvalidError: The value has a line break.
    """
    if "\n" in value or "\r" in value:
        raise InvalidError(f"the value of {name} has a line break, which images do not keep")
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
    return f'ENV {name}="{escaped}"'


def copy_into(context: Path, name: str, source: Path) -> None:
    """Put a file or folder into a build's context."""
    if source.is_dir():
        shutil.copytree(source, context / name, symlinks=True, dirs_exist_ok=True)
    else:
        (context / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, context / name)
