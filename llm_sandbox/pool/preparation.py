"""Preparation of a pool's sessions: files and a warm-up cell, before any tenant has them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from llm_sandbox.exceptions import ContainerError, ValidationError
from llm_sandbox.session.session import BaseSession

__all__ = ["FileSource", "Preparation"]

FileSource = str | Path | bytes
"""Source of a file in every session of a pool: a path of the host, or the content."""

_WARM_UP_S = 300.0
_ERROR_CHARACTERS = 300


@dataclass(frozen=True)
class Preparation:
    """Files and warm-up cell of a pool's sessions.

    Raises:
        ValidationError: A file does not exist on the host, or a value has the wrong type.
    """

    files: Mapping[str, FileSource] = field(default_factory=dict)
    """Files and folders by path in the sandbox; a relative path is below the working directory."""
    warm_up: str | None = None
    """Code to run in each session before it is ready; None for none."""

    def __post_init__(self) -> None:
        if self.warm_up is not None and not isinstance(self.warm_up, str):
            raise ValidationError(
                f"invalid warm_up: expected code as a str, got {type(self.warm_up).__name__}",
                parameter="warm_up",
            )
        if not isinstance(self.files, Mapping):
            raise ValidationError(
                "invalid files: expected a mapping of paths in the sandbox to sources, "
                f"got {type(self.files).__name__}",
                parameter="files",
                hint='files={"data.csv": "/path/on/host.csv", "greeting.txt": b"hello"}',
            )
        for path, source in self.files.items():
            _check_file(path, source)
        # Not the caller's own mapping, which may change while sessions are created.
        object.__setattr__(self, "files", dict(self.files))

    def apply(self, session: BaseSession) -> None:
        """Prepare an open session.

        Raises:
            ContainerError: The warm-up cell failed.
            SandboxTimeoutError: The warm-up cell took more than five minutes.
            SandboxError: A file could not be written.
        """
        for path, source in self.files.items():
            session.copy_to_runtime(source, path)
        if self.warm_up is None:
            return
        result = session.run(self.warm_up, timeout=_WARM_UP_S)
        if not result.success():
            error = result.error
            why = (
                f"exit code {result.exit_code}"
                if error is None
                else f"{error.name}: {error.value[:_ERROR_CHARACTERS]}"
            )
            raise ContainerError(f"the warm-up cell of the pool failed with {why}")


def _check_file(path: object, source: object) -> None:
    if not isinstance(path, str) or not path:
        raise ValidationError(
            f"invalid files: expected paths in the sandbox as str, got {path!r}", parameter="files"
        )
    if isinstance(source, bytes):
        return
    if not isinstance(source, str | os.PathLike):
        raise ValidationError(
            f"invalid files: expected a path of the host or bytes for {path!r}, "
            f"got {type(source).__name__}",
            parameter="files",
        )
    if not Path(source).exists():
        raise ValidationError(
            f"invalid files: expected an existing path of the host for {path!r}, "
            f"got {os.fspath(source)!r}",
            parameter="files",
            hint="give content as bytes",
        )
