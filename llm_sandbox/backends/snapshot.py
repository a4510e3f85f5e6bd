"""Snapshots: saved sandboxes and their stores."""

import abc
import builtins
import contextlib
import datetime
import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal, cast

from llm_sandbox.exceptions import SandboxError, UnsupportedError, ValidationError
from llm_sandbox.limits import validate_timeout

__all__ = ["ENGINES", "Snapshot", "SnapshotKind", "SnapshotStore", "expiry"]

SnapshotKind = Literal["filesystem", "directory"]
ENGINES = ("docker", "podman")
"""The backends whose engines hold snapshots as images."""

_FILES = "files:"
_TYPES: Mapping[str, tuple[type, ...]] = {
    "created_at": (int, float),
    "expires_at": (int, float, type(None)),
    "size": (int, type(None)),
    "path": (str, type(None)),
}


def expiry(ttl: float | None) -> float | None:
    """Return when something that is made now expires, in seconds since 1970; None for never.

    Raises:
        ValidationError: `ttl` is no finite number of seconds above 0.
    """
    seconds = validate_timeout(ttl, "ttl")
    return None if seconds is None else time.time() + seconds


@dataclass(frozen=True)
class Snapshot:
    """Saved sandbox, from which its store can create others.

    It is only a name: it can be written down (`to_dict`) and read again, and holds neither secrets
    nor whose the sandbox was.
    """

    backend: str
    """Name of the backend that the sandbox was in."""
    store: str
    """What tells the place where it is kept from every other one: an engine's identity, or that of
    a user's folder. Others cannot restore it."""
    ref: str
    """What it is called there: the id of an image, or the name of a folder."""
    name: str
    """Its name for people; a container engine knows it by that, too."""
    kind: SnapshotKind = "filesystem"
    """What was saved: all that could be changed, or one directory."""
    created_at: float = 0.0
    """When, in seconds since 1970."""
    expires_at: float | None = None
    """When it stops to be restored, in seconds since 1970; None for never."""
    size: int | None = None
    """Bytes that it takes; None where only the engine knows."""
    path: str | None = None
    """The directory that was saved: absolute, or below the working directory; None for the whole
    of that."""

    @property
    def is_file(self) -> bool:
        """Whether it is kept in a folder of this user's, and not by a container engine."""
        return self.store.startswith(_FILES)

    @property
    def is_expired(self) -> bool:
        """Whether its time to live is over."""
        return self.expires_at is not None and self.expires_at <= time.time()

    def check_alive(self) -> None:
        """Do nothing while it lives.

        Raises:
            ValidationError: Its time to live is over.
        """
        if self.is_expired and self.expires_at is not None:
            when = datetime.datetime.fromtimestamp(self.expires_at, datetime.UTC)
            raise ValidationError(
                f"snapshot {self.name} expired at {when:%Y-%m-%d %H:%M:%S} UTC",
                parameter="image",
                hint="save the sandbox again, with a longer ttl or without one",
            )

    def to_dict(self) -> dict[str, object]:
        """Return it as JSON-able data."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> "Snapshot":
        """Read what `to_dict` returned.

        Raises:
            ValidationError: It is something else.
        """
        names = {field.name for field in fields(cls)}
        if set(data) != names or any(
            not isinstance(value, _TYPES.get(name, (str,))) or isinstance(value, bool)
            for name, value in data.items()
        ):
            raise ValidationError("not the data of a snapshot", parameter="image")
        if data["kind"] not in ("filesystem", "directory"):
            raise ValidationError(
                f"a snapshot of kind {data['kind']!r} is not known here", parameter="image"
            )
        return cls(**cast("Mapping[str, str]", data))  # type: ignore[arg-type]

    def delete(self) -> bool:
        """Remove it from its store; sandboxes that were made from it live on.

        Returns:
            False if it was not there any more.

        Raises:
            UnsupportedError: It is in another store than this user's.
            BackendUnavailableError: Its engine does not answer.
            BackendError: The engine refused: as long as a sandbox that was made from it lives.
        """
        if self.is_file:
            from llm_sandbox.backends.file_snapshots import FileSnapshots

            with FileSnapshots() as store:
                self._check_store(store.identity)
                return store.delete(self.ref)
        engine_store = _engine_store(self.backend)
        self._check_store(engine_store.identity)
        return engine_store.delete(self.ref)

    def _check_store(self, identity: str) -> None:
        if self.store != identity:
            raise UnsupportedError(
                "delete()",
                self.backend,
                f"{self.name} is in another store ({self.store}) than can be reached from here "
                f"({identity})",
                hint="delete it where it was saved",
            )

    @classmethod
    def list(cls, backend: str | None = None) -> builtins.list["Snapshot"]:
        """Return the snapshots that can be restored from here, newest first.

        Args:
            backend: Those of sandboxes of one backend; None for all. Engines that do not answer
                are then left out.

        Raises:
            BackendUnavailableError: The engine that was named does not answer.
        """
        from llm_sandbox.backends.file_snapshots import FileSnapshots

        with FileSnapshots() as store:
            found = [one.snapshot for one in store.list()]
        for name in ENGINES:
            with contextlib.suppress(*([] if backend == name else [SandboxError])):
                found += _engine_store(name).list()
        wanted = [one for one in found if backend in (None, one.backend) and not one.is_expired]
        return sorted(wanted, key=lambda one: one.created_at, reverse=True)


class SnapshotStore(abc.ABC):
    """The snapshots that one container engine holds as images."""

    @property
    @abc.abstractmethod
    def identity(self) -> str:
        """The `store` of its snapshots."""

    @abc.abstractmethod
    def list(self) -> builtins.list[Snapshot]:
        """Return the snapshots.

        Raises:
            BackendUnavailableError: The engine does not answer.
            BackendError: The engine refused.
        """

    @abc.abstractmethod
    def delete(self, ref: str) -> bool:
        """Delete a snapshot; False if there is none.

        Args:
            ref: See `Snapshot.ref`.

        Raises:
            BackendUnavailableError: The engine does not answer.
            BackendError: A container uses it.
            ValidationError: It is not a snapshot.
        """

    @abc.abstractmethod
    def remove_expired(self) -> builtins.list[Snapshot]:
        """Delete the expired snapshots that no container uses, and return them.

        Raises:
            BackendUnavailableError: The engine does not answer.
        """


def _engine_store(backend: str) -> SnapshotStore:
    from llm_sandbox.backends.registry import get_backend

    found = get_backend(backend)
    if not found.has_containers:
        raise ValidationError(f"backend {backend!r} has no snapshots of its own", parameter="image")
    return found.snapshots
