"""Named volumes: folders of this user that outlive sandboxes and are shared by them.

A volume is a folder of this computer and not one of an engine's, so that sandboxes of every backend
have the same files, and the host reads and writes them without a sandbox.
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
    """A named folder of this user's that outlives sandboxes.

    A sandbox that is made with one that does not exist makes it. It belongs to no snapshot, and has
    no size of its own: it grows as far as this computer's disk does.

    Raises:
        ValidationError: The name cannot be one.
    """

    name: str
    """1 to 64 letters, digits, ``.``, ``_`` or ``-``, with a letter or digit first."""
    read_only: bool = False
    """Whether the sandbox may only read it; False."""

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
        """Make a volume, and return it.

        Args:
            name: Its name.
            exist_ok: Whether one that is there already will do; True.

        Raises:
            SandboxFileExistsError: It is there already, and will not do.
            SecurityError: The folder of all volumes is not this user's alone.
            ValidationError: The name cannot be one.
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
        """Remove a volume with all that is in it.

        Raises:
            FileError: A sandbox has it, or something of it cannot be removed.
            SandboxFileNotFoundError: There is none of that name.
        """
        from llm_sandbox.mounts.store import VolumeStore

        VolumeStore().remove(cls(name).name)

    @property
    def exists(self) -> bool:
        """Whether there is one of that name."""
        from llm_sandbox.mounts.store import VolumeStore

        return self.name in VolumeStore().names()

    @property
    def files(self) -> "VolumeFiles":
        """Its files, read and written from outside; sandboxes that have it see them at once.

        Raises:
            SandboxFileNotFoundError: There is none of that name.
        """
        from llm_sandbox.mounts.store import VolumeStore
        from llm_sandbox.mounts.volume_files import VolumeFiles

        return VolumeFiles(VolumeStore().folder(self.name))


def _is_name(value: object) -> bool:
    return isinstance(value, str) and _NAME.fullmatch(value) is not None
