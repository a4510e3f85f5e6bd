"""Recipes and names of the language images, which `llm_sandbox/images/<language>` holds."""

import hashlib
import io
import tarfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from llm_sandbox.backends.python_environment import PACKAGE
from llm_sandbox.const import VERSION
from llm_sandbox.exceptions import ValidationError

__all__ = [
    "BASE",
    "RECIPES",
    "Recipe",
    "candidate_references",
    "get_recipe",
    "image_name",
    "recipe_name",
    "recipe_names",
]

RECIPES = PACKAGE / "images"
"""Folder with a folder for each image."""
BASE = "base"
"""Name of the recipe that all others build on."""

# Equal recipes make equal contexts, whenever they are unpacked, so that engines reuse layers.
_EPOCH = 1704067200
_IGNORED = {"__pycache__", ".ruff_cache", ".mypy_cache", ".pytest_cache"}
_SHARED = {"typescript": "javascript"}


def recipe_name(lang: str) -> str:
    """Return the name of a language's recipe, which some languages share."""
    return _SHARED.get(lang, lang)


def image_name(lang: str) -> str:
    """Return the name of a language's image, such as ``llm-sandbox/python:1.2.3``."""
    return f"llm-sandbox/{recipe_name(lang)}:{VERSION}"


def candidate_references(engine: str, name: str) -> list[str]:
    """Return the names under which an engine may have an image, the likeliest first.

    Podman adds the registry ``localhost`` to images that it builds, ``docker.io`` to those of
    Docker's API, and resolves short names by the system's configuration.
    """
    if engine != "podman" or name.startswith("sha256:") or _has_registry(name):
        return [name]
    hub = f"docker.io/{name}" if "/" in name else f"docker.io/library/{name}"
    return [name, f"localhost/{name}", hub]


def _has_registry(name: str) -> bool:
    first, slash, _ = name.partition("/")
    return bool(slash) and ("." in first or ":" in first or first == "localhost")


@dataclass(frozen=True)
class Recipe:
    """Recipe of one image.

    Attributes:
        name: The language, or ``base``.
        folder: A folder with a Dockerfile, `recipe.toml`, `debian.txt` and what they name.
    """

    name: str
    folder: Path
    _base: "Recipe | None" = field(default=None, repr=False)

    @property
    def image(self) -> str:
        """The image's name."""
        return image_name(self.name)

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Content of `recipe.toml`."""
        return tomllib.loads((self.folder / "recipe.toml").read_text(encoding="utf-8"))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all files of the recipe, and of its base."""
        digest = hashlib.sha256(self._base.digest.encode() if self._base else b"")
        for path in self.files():
            content = path.read_bytes()
            name = path.relative_to(self.folder).as_posix()
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
        return digest.hexdigest()

    @cached_property
    def debian_packages(self) -> list[str]:
        """Names of the Debian packages that the image adds to a bare Debian, sorted."""
        own = set(self._lines("debian.txt"))
        return sorted(own.union(self._base.debian_packages if self._base else ()))

    @cached_property
    def dpkg_options(self) -> list[str]:
        """Options of dpkg for this image, such as files to leave out."""
        return self._lines("dpkg.cfg") if (self.folder / "dpkg.cfg").exists() else []

    def _lines(self, name: str) -> list[str]:
        lines = (self.folder / name).read_text(encoding="utf-8").splitlines()
        return [kept for line in lines if (kept := line.partition("#")[0].strip())]

    def files(self) -> Iterator[Path]:
        """Yield every file of the recipe, in a fixed order."""
        for path in sorted(self.folder.rglob("*")):
            if path.is_file() and not _IGNORED.intersection(path.relative_to(self.folder).parts):
                yield path

    def write_context(self, target: IO[bytes], extra: Path | None = None) -> None:
        """Write the build context as a tar archive.

        Args:
            target: Receives the archive.
            extra: Folder whose files are added to the context, below its own name; None for none.
        """
        with tarfile.open(fileobj=target, mode="w") as archive:
            for path in self.files():
                _add(archive, path, path.relative_to(self.folder).as_posix())
            for path in sorted(extra.iterdir()) if extra else ():
                _add(archive, path, f"{path.parent.name}/{path.name}")


def _add(archive: tarfile.TarFile, path: Path, name: str) -> None:
    content = path.read_bytes()
    member = tarfile.TarInfo(name)
    member.size = len(content)
    member.mtime = _EPOCH
    # An installed wheel may have lost the mode.
    member.mode = 0o755 if content.startswith(b"#!") else 0o644
    archive.addfile(member, io.BytesIO(content))


def recipe_names() -> list[str]:
    """Return the names of all recipes, the base first."""
    found = {path.parent.name for path in RECIPES.glob("*/recipe.toml")}
    return [BASE, *sorted(found - {BASE})]


def get_recipe(name: str) -> Recipe:
    """Return a recipe by its name or by a language.

    Raises:
        ValidationError: There is no such recipe.
    """
    name = recipe_name(name)
    if name not in recipe_names():
        raise ValidationError(
            f"no image of this version is called {name!r}",
            parameter="lang",
            hint=f"known: {', '.join(recipe_names())}",
        )
    base = None if name == BASE else Recipe(BASE, RECIPES / BASE)
    return Recipe(name, RECIPES / name, base)
