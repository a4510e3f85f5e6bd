"""Named volumes: folders of this user that outlive sandboxes and are shared by them.

A volume is a folder of this computer, not a volume of an engine, so that sandboxes of every backend
share the same files, and the host can access them without a sandbox.
"""

import builtins
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from llm_sandbox.exceptions import ValidationError

if TYPE_CHECKING:
    from llm_sandbox.mounts.volume_files import VolumeFiles

__all__ = ["Volume"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)


@dataclass(frozen=True)
class Volume:
    """Named folder of this user that outlives sandboxes.

    A missing volume is created with the sandbox that uses it. Volumes are not part of snapshots,
    and have no size limit except the disk of this computer.

    Raises:
        ValidationError: The name is invalid.
    """

    name: str
    """1 to 64 letters, digits, ``.``, ``_`` or ``-``, with a letter or digit first."""
    read_only: bool = False
    """Whether the mount is read-only; False."""

    def __post_init__(self) -> None:
        if not _is_name(self.name):
            raise ValidationError(
                "the name of a volume is 1 to 64 letters, digits, '.', '_' or '-', and begins "
                f"with a letter or digit, unlike {self.name!r:.80}",
                parameter="name",
            )
        if self.read_only not in (True, False):
            raise ValidationError("read_only is True or False", parameter="read_only")

    @classmethod
    def create(cls, name: str, *, exist_ok: bool = True) -> Self:
        """Create a volume, and return it.

        Args:
            name: Name of the volume.
            exist_ok: Whether an existing volume is accepted; True.

        Raises:
            SandboxFileExistsError: The volume exists, and `exist_ok` is False.
            SecurityError: Other users can access the folder of all volumes.
            ValidationError: The name is invalid.
        """
        from llm_sandbox.mounts.store import VolumeStore

        volume = cls(name)
        VolumeStore().make(volume.name, exist_ok=exist_ok)
        return volume

    @classmethod
    def list(cls) -> builtins.list[Self]:
        """Return the volumes of this user, by name."""
        from llm_sandbox.mounts.store import VolumeStore

        return [cls(name) for name in VolumeStore().names()]

    @classmethod
    def delete(cls, name: str) -> None:
        """Delete a volume with its files.

        Raises:
            FileError: A sandbox uses the volume, or a file cannot be deleted.
            SandboxFileNotFoundError: The volume does not exist.
        """
        from llm_sandbox.mounts.store import VolumeStore

        VolumeStore().remove(cls(name).name)

    @property
    def exists(self) -> bool:
        """Whether the volume exists."""
        from llm_sandbox.mounts.store import VolumeStore

        return self.name in VolumeStore().names()

    @property
    def files(self) -> "VolumeFiles":
        """Files of the volume, accessed from the host; sandboxes see changes at once.

        Raises:
            SandboxFileNotFoundError: The volume does not exist.
        """
        from llm_sandbox.mounts.store import VolumeStore
        from llm_sandbox.mounts.volume_files import VolumeFiles

        return VolumeFiles(VolumeStore().folder(self.name))


def _is_name(value: object) -> bool:
    return isinstance(value, str) and _NAME.fullmatch(value) is not None
