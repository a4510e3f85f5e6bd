"""Targets of layers: the Python of this process, one of an image, or another language."""

import contextlib
import importlib.util
import os
import re
import site
import sys
import sysconfig
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.language_handlers.packages import Packages
from llm_sandbox.language_handlers.python.handler import PythonHandler
from llm_sandbox.packages.target_python import TargetPython

__all__ = ["LanguageTarget", "LayerTarget", "PythonTarget", "find_distributions"]

_METADATA = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)(?:-py[\d.]+)?\.(?:dist|egg)-info")


class LayerTarget(Protocol):
    """What layers are added to, and what their libraries are called."""

    def normalise(self, specs: Sequence[str]) -> list[str]:
        """Return what several spellings of the same request share.

        Raises:
            ValidationError: One is not acceptable, or there is none.
        """

    def facts(self) -> list[Any]:
        """All that the package manager's answer depends on but the registry, as JSON-able data."""

    def stamp(self) -> str:
        """What the content of a layer does not say, and sets it apart from others."""

    def distributions(self) -> Mapping[str, str]:
        """Version by name of what it has."""

    def find(self, folder: Path) -> dict[str, str]:
        """Version by name of what was installed in a folder."""

    @property
    def caches(self) -> frozenset[str]:
        """Names of folders that the package manager's answer does not come with."""


@dataclass(frozen=True)
class LanguageTarget:
    """A language beside Python, on this machine or in an image."""

    packages: Packages
    """Its package manager."""
    path: str = ""
    """Where its programs are on this machine: folders with colons between them."""
    image: str = ""
    """What stands for an image that it is in instead."""
    caches: frozenset[str] = frozenset()

    def normalise(self, specs: Sequence[str]) -> list[str]:
        """See `LayerTarget.normalise`."""
        return self.packages.normalise(specs)

    def facts(self) -> list[Any]:
        """See `LayerTarget.facts`."""
        own = self.packages
        if self.image and not own.is_portable:
            return [own.manager, own.layout, "image", self.image]
        return [own.manager, own.layout, *own.facts(self.path)]

    def stamp(self) -> str:
        """See `LayerTarget.stamp`."""
        return f"packages of {self.packages.manager}"

    def distributions(self) -> Mapping[str, str]:
        """Return none: what is there already is the package manager's affair."""
        return {}

    def find(self, folder: Path) -> dict[str, str]:
        """Return none: only Python's are told apart."""
        del folder
        return {}


@dataclass(frozen=True)
class PythonTarget:
    """The distributions and the interpreter that a layer of Python's is for."""

    target: TargetPython | None = None
    """The Python of an image; None for this process's."""
    image: str = ""
    """What stands for the image."""

    caches: frozenset[str] = frozenset({"__pycache__"})
    """Compiled by us from the sources, which are counted."""

    def normalise(self, specs: Sequence[str]) -> list[str]:
        """See `LayerTarget.normalise`."""
        if isinstance(specs, str):
            # Its letters would be taken for names.
            raise ValidationError("libraries must be a list of names", parameter="libraries")
        handler = PythonHandler()
        wanted = {_normalise(handler.validate_library(spec)) for spec in specs}
        if not wanted:
            raise ValidationError("there is nothing to install", parameter="libraries")
        return sorted(wanted)

    def find(self, folder: Path) -> dict[str, str]:
        """See `LayerTarget.find`."""
        return find_distributions([folder])

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


def _normalise(requirement: str) -> str:
    wanted = Requirement(requirement)
    extras = ",".join(sorted(set(map(canonicalize_name, wanted.extras))))
    chosen = f"[{extras}]" if extras else ""
    return f"{canonicalize_name(wanted.name)}{chosen}{wanted.specifier}"


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
                    found.setdefault(canonicalize_name(match["name"]), match["version"])
    return found
