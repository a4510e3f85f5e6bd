"""What layers are added to: the Python of this process, or one of an image."""

import contextlib
import importlib.util
import os
import re
import site
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llm_sandbox.session.target_python import TargetPython, canonical_name

__all__ = ["Environment", "find_distributions"]

_METADATA = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)(?:-py[\d.]+)?\.(?:dist|egg)-info")


@dataclass(frozen=True)
class Environment:
    """The distributions and the interpreter that a layer is for."""

    target: TargetPython | None = None
    """The Python of an image; None for this process's."""
    image: str = ""
    """What stands for the image."""

    def facts(self) -> list[Any]:
        """All that pip's answer depends on but the index, as JSON-able data."""
        if self.target is not None:
            return ["image", *self.target.facts(), self.stamp()]
        return [
            sys.implementation.cache_tag,
            sysconfig.get_config_var("SOABI"),
            sysconfig.get_platform(),
            _libc_version(),
            sorted(self.distributions().items()),
        ]

    def distributions(self) -> Mapping[str, str]:
        """Version by name of what it has."""
        if self.target is not None:
            return self.target.distributions
        return find_distributions(_folders())

    def stamp(self) -> str:
        """What a layer's byte code is for, and who made it where that is not this process."""
        if self.target is None or self.target.compiles_here:
            return importlib.util.MAGIC_NUMBER.hex()
        # trust: byte code that an image has made is for that image alone.
        return f"{self.target.magic} {self.image}"


def _libc_version() -> str:
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        return ""


def _folders() -> list[Path]:
    folders = site.getsitepackages()
    if site.ENABLE_USER_SITE:
        folders = [site.getusersitepackages(), *folders]
    return [Path(folder) for folder in folders]


def find_distributions(folders: Iterable[Path]) -> dict[str, str]:
    """Version by name, from the metadata folders' names: importlib.metadata would open each one."""
    found: dict[str, str] = {}
    for folder in folders:
        with contextlib.suppress(OSError):
            for path in sorted(folder.iterdir()):
                match = _METADATA.fullmatch(path.name)
                if match is not None:
                    found.setdefault(canonical_name(match["name"]), match["version"])
    return found
