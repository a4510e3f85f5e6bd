"""Snapshots that a container engine holds: images whose labels say what they are."""

import builtins
import contextlib
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.snapshot import Snapshot, SnapshotStore
from llm_sandbox.exceptions import (
    BackendError,
    BackendUnavailableError,
    ContainerGoneError,
    ImageNotFoundError,
    ValidationError,
)

__all__ = [
    "BACKEND",
    "CREATED",
    "EXPIRES",
    "SAVING",
    "SNAPSHOT",
    "EngineSnapshots",
    "reject_expired",
    "snapshot_times",
]

SNAPSHOT = "llm-sandbox.snapshot"
"""Label of an image that a container was saved as; its value lists what is at the saved places."""
BACKEND = "llm-sandbox.snapshot.backend"
"""Label with the name of the backend that its sandbox was in."""
CREATED = "llm-sandbox.snapshot.created"
"""Label with the moment it was saved, in seconds since 1970."""
EXPIRES = "llm-sandbox.snapshot.expires"
"""Label with the moment it expires, in seconds since 1970; empty for never."""
SAVING = "llm-sandbox.saving"
"""Label of what is a step on the way to one, an image or a container: which process takes it. Empty
in the end."""

_ENDING_S = 1.0
"""In which the processes of a sandbox that was destroyed have ended."""
_GOING_S = 15.0
"""In which an engine has noticed, and removed the container."""
_LOOK_S = 0.05


def snapshot_times(labels: Mapping[str, str]) -> tuple[float, float | None]:
    """When an image was saved, and when it expires, as its labels have it."""
    found: list[float | None] = []
    for label in (CREATED, EXPIRES):
        value = None
        with contextlib.suppress(ValueError):
            value = float(labels.get(label, ""))
        found.append(value)
    return found[0] or 0.0, found[1]


def reject_expired(name: str, labels: Mapping[str, str]) -> None:
    """Do nothing unless this is the image of a snapshot whose time to live is over.

    What the image says counts: a name of it can be written by anybody.

    Raises:
        ValidationError: It is.
    """
    if SNAPSHOT in labels:
        created, expires = snapshot_times(labels)
        Snapshot("", "", "", name, created_at=created, expires_at=expires).check_alive()


class EngineSnapshots(SnapshotStore):
    """See `SnapshotStore`.

    Args:
        engine: The engine.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def identity(self) -> str:
        return self._engine.identity

    def list(self) -> builtins.list[Snapshot]:
        api: Any = self._engine.api
        with self._engine.errors("list"):
            images = api.images(filters={"label": SNAPSHOT})
        found = []
        for facts in images:
            labels = facts.get("Labels") or {}
            tags = [tag for tag in facts.get("RepoTags") or () if tag != "<none>:<none>"]
            if labels.get(SAVING):
                continue
            ref = str(facts["Id"])
            created, expires = snapshot_times(labels)
            found.append(
                Snapshot(
                    labels.get(BACKEND) or self._engine.name,
                    self._engine.identity,
                    ref,
                    # Another one may have been given its name.
                    tags[0] if tags else ref.removeprefix("sha256:")[:12],
                    created_at=created or float(facts.get("Created") or 0),
                    expires_at=expires,
                    size=int(facts.get("Size") or 0) or None,
                )
            )
        return found

    def delete(self, ref: str) -> bool:
        return self._delete(ref)

    def _delete(self, ref: str, *, waits: bool = True) -> bool:
        api: Any = self._engine.api
        try:
            with self._engine.errors("inspect", ref):
                facts = api.inspect_image(ref)
            labels = (facts.get("Config") or {}).get("Labels") or {}
            if SNAPSHOT not in labels:
                raise ValidationError(f"image {ref} is no snapshot", parameter="ref")
            _remove(self._engine, ref, facts, waits=waits)
        except (ImageNotFoundError, ContainerGoneError):
            return False
        return True

    def remove_expired(self) -> builtins.list[Snapshot]:
        gone = []
        for one in self.list():
            if one.is_expired:
                # While a container uses it, it stays until the next call.
                with contextlib.suppress(BackendError):
                    if self._delete(one.ref, waits=False):
                        gone.append(one)
        return gone


def _remove(engine: Engine, ref: str, facts: Mapping[str, Any], *, waits: bool) -> None:
    api: Any = engine.api
    begun = time.monotonic()
    while True:
        try:
            with engine.errors("delete", ref):
                for name in facts.get("RepoTags") or [ref]:
                    api.remove_image(name)
        except BackendUnavailableError:
            raise
        except BackendError:
            waited = time.monotonic() - begun
            if not waits or waited > _GOING_S or (waited > _ENDING_S and _is_used(engine, ref)):
                raise
            time.sleep(_LOOK_S)
        else:
            return


def _is_used(engine: Engine, ref: str) -> bool:
    """Whether a container of an image lives.

    An engine says of one that was destroyed for some time yet that it runs.
    """
    api: Any = engine.api
    image = ref.removeprefix("sha256:")
    with engine.errors("list"):
        everyone = api.containers(all=True)
    for one in everyone:
        if str(one.get("ImageID")).removeprefix("sha256:") != image:
            continue
        try:
            with engine.errors("inspect", str(one["Id"])):
                process = int(api.inspect_container(one["Id"])["State"].get("Pid") or 0)
        except ContainerGoneError:
            continue
        if process and (not engine.is_local or Path(f"/proc/{process}").exists()):
            return True
    return False
