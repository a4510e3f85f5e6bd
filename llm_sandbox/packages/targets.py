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
    """Environment to which layers are added."""

    def normalise(self, specs: Sequence[str]) -> list[str]:
        """Return the canonical form of a request.

        Raises:
            ValidationError: A requirement is malformed, or there is none.
        """

    def facts(self) -> list[Any]:
        """Return everything that the package manager's answer depends on except the registry, as
        JSON types.
        """

    def stamp(self) -> str:
        """Return the distinction of layers that their content does not show."""

    def distributions(self) -> Mapping[str, str]:
        """Return the version of each distribution of the environment, by name."""

    def find(self, folder: Path) -> dict[str, str]:
        """Return the version of each distribution that was installed in a folder, by name."""

    @property
    def caches(self) -> frozenset[str]:
        """Names of folders that are generated after the installation."""


@dataclass(frozen=True)
class LanguageTarget:
    """Language other than Python, on this computer or in an image."""

    packages: Packages
    """Package manager of the language."""
    path: str = ""
    """Search path of its programs on this computer, colon-separated."""
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
        """Return none: the package manager handles existing packages itself."""
        return {}

    def find(self, folder: Path) -> dict[str, str]:
        """Return none: only Python's distributions are tracked."""
        del folder
        return {}


@dataclass(frozen=True)
class PythonTarget:
    """Python and its distributions, to which layers are added."""

    target: TargetPython | None = None
    """The Python of an image; None for this process's."""
    image: str = ""
    """Identifier of the image."""

    caches: frozenset[str] = frozenset({"__pycache__"})
    """Names of folders of byte code, compiled from sources that are counted."""

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
        """Return everything that pip's answer depends on except the index, as JSON types."""
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
        """Return the version of each of its distributions, by name."""
        if self.target is not None:
            return self.target.distributions
        return find_distributions(_folders())

    def stamp(self) -> str:
        """Return the byte code's version, and its compiler if that is not this process."""
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
    """Return versions by name, from the names of metadata folders: importlib.metadata would open
    each one.
    """
    found: dict[str, str] = {}
    for folder in folders:
        with contextlib.suppress(OSError):
            for path in sorted(folder.iterdir()):
                match = _METADATA.fullmatch(path.name)
                if match is not None:
                    found.setdefault(canonicalize_name(match["name"]), match["version"])
    return found
