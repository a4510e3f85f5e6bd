"""Mounts: files of this machine copied into a sandbox, and kinds that only Modal's cloud has."""

import os
from dataclasses import dataclass
from pathlib import Path

from llm_sandbox.adapters.modal.checks import check_path
from llm_sandbox.adapters.modal.exception import InvalidError, UnimplementedError

__all__ = ["CloudBucketMount", "Mount", "NetworkFileSystem", "Proxy", "SchedulerPlacement"]


@dataclass(frozen=True)
class Mount:
    """Files of this machine, copied into a sandbox when it is created."""

    local_path: Path
    """The file or folder."""
    remote_path: str
    """Absolute path in the sandbox."""

    @staticmethod
    def from_local_file(
        local_path: str | os.PathLike[str], remote_path: str | os.PathLike[str] | None = None
    ) -> "Mount":
        """Return a mount of one file, by default below ``/root``, under its own name.

        Raises:
            FileNotFoundError: The file does not exist.
        """
        path = Path(local_path).absolute()
        if not path.is_file():
            raise FileNotFoundError(f"there is no file {path}")
        return Mount(path, check_path(remote_path or f"/root/{path.name}"))

    @staticmethod
    def from_local_dir(
        local_path: str | os.PathLike[str], *, remote_path: str | os.PathLike[str] | None = None
    ) -> "Mount":
        """Return a mount of a folder, by default below ``/root``, under its own name.

        Raises:
            NotADirectoryError: The folder does not exist.
        """
        path = Path(local_path).absolute()
        if not path.is_dir():
            raise NotADirectoryError(f"there is no folder {path}")
        return Mount(path, check_path(remote_path or f"/root/{path.name}"))


class CloudBucketMount:
    """Cloud storage bucket. It cannot be mounted here.

    Raises:
        UnimplementedError: Always.
    """

    def __init__(self, bucket_name: str, **options: object) -> None:
        del bucket_name, options
        raise UnimplementedError(
            "CloudBucketMount",
            None,
            "a bucket is mounted by Modal's servers",
            hint="copy what is needed into a volume: modal.Volume",
        )


class NetworkFileSystem:
    """Shared file system of Modal's servers, which Modal itself replaced by volumes."""

    @staticmethod
    def from_name(name: str, **options: object) -> "NetworkFileSystem":
        """Raise `UnimplementedError`.

        Raises:
            UnimplementedError: Always.
        """
        del name, options
        raise UnimplementedError(
            "NetworkFileSystem",
            None,
            "it belongs to Modal's servers",
            hint="modal.Volume.from_name(name, create_if_missing=True)",
        )


class Proxy:
    """Fixed source address of connections, which only Modal's servers provide."""

    @staticmethod
    def from_name(name: str, **options: object) -> "Proxy":
        """Raise `UnimplementedError`.

        Raises:
            UnimplementedError: Always.
        """
        del name, options
        raise UnimplementedError(
            "Proxy",
            None,
            "a fixed outgoing address is one of Modal's servers'",
            hint="sandboxes of this machine have this machine's address",
        )


@dataclass(frozen=True)
class SchedulerPlacement:
    """Placement of a sandbox in a cloud; there is only this machine."""

    region: str | None = None
    """Name of a region."""
    zone: str | None = None
    """Name of a zone."""
    spot: bool | None = None
    """Acceptance of preemptible machines."""

    def __post_init__(self) -> None:
        if self.spot is not None and not isinstance(self.spot, bool):
            raise InvalidError("spot is True or False", parameter="spot")
