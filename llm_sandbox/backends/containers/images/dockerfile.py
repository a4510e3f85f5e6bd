"""Images built from a Dockerfile of the caller."""

import hashlib
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.containers.gc.labels import MARK
from llm_sandbox.backends.containers.images.stream import follow_build
from llm_sandbox.const import VERSION
from llm_sandbox.exceptions import ValidationError

__all__ = ["TEMPLATE", "Dockerfile"]

_REPOSITORY = "llm-sandbox/from-dockerfile"
TEMPLATE = "llm-sandbox/template"
"""Repository of built images that `llm-sandbox gc` leaves alone."""


@dataclass(frozen=True)
class Dockerfile:
    """A Dockerfile; its context is its folder, without the files that `.dockerignore` names.

    Attributes:
        path: The file.
        is_kept: Whether its image stays when no container uses it.
    """

    path: Path
    is_kept: bool = False

    @classmethod
    def find(cls, place: str | os.PathLike[str], *, is_kept: bool = False) -> "Dockerfile":
        """Return the Dockerfile at a path, or in a folder.

        Raises:
            ValidationError: There is no such Dockerfile.
        """
        path = Path(place).expanduser().absolute()
        if path.is_dir():
            path /= "Dockerfile"
        if not path.is_file():
            raise ValidationError(
                f"there is no Dockerfile at {str(place)!r}",
                parameter="dockerfile",
                hint="give the path of a Dockerfile, or of a folder that has one",
            )
        return cls(path, is_kept)

    @property
    def image(self) -> str:
        """Name of the image, which changes with the content of the context."""
        return f"{TEMPLATE if self.is_kept else _REPOSITORY}:{self._digest[:16]}"

    @cached_property
    def _digest(self) -> str:
        from docker.utils.build import exclude_paths

        context = self.path.parent
        digest = hashlib.sha256(self.path.name.encode())
        for name in sorted(exclude_paths(str(context), self._ignored(), dockerfile=self.path.name)):
            path = context / name
            mode = path.lstat().st_mode
            digest.update(f"{name}\0{stat.S_IFMT(mode)}\0{mode & 0o111}\0".encode())
            if stat.S_ISLNK(mode):
                digest.update(os.fsencode(path.readlink()))
            elif stat.S_ISREG(mode):
                with path.open("rb") as file:
                    digest.update(hashlib.file_digest(file, "sha256").digest())
        return digest.hexdigest()

    def _ignored(self) -> list[str]:
        try:
            text = (self.path.parent / ".dockerignore").read_text(encoding="utf-8")
        except OSError:
            return []
        lines = (line.strip() for line in text.splitlines())
        return [line for line in lines if line and not line.startswith("#")]

    def build(self, engine: Engine, on_line: Callable[[str], None]) -> str:
        """Build the image, and return its id.

        Args:
            engine: The engine, whose network the build uses.
            on_line: Called with each step.

        Raises:
            BackendUnavailableError: The engine does not answer.
            BackendError: The build failed; the message has its last 20 lines.
        """
        arguments = {
            "path": str(self.path.parent),
            "dockerfile": self.path.name,
            "tag": self.image,
            "labels": {MARK: VERSION},
        }
        return follow_build(
            engine,
            str(self.path),
            arguments,
            on_line,
            hint=f"try it by hand: {engine.name} build --file {self.path} {self.path.parent}",
        )
