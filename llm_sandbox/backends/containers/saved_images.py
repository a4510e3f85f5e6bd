"""Snapshots that a container engine holds: images whose labels say what they are."""

import contextlib
from collections.abc import Mapping
from typing import Any

from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.snapshot import Snapshot
from llm_sandbox.exceptions import ContainerGoneError, ImageNotFoundError, ValidationError

__all__ = [
    "BACKEND",
    "CREATED",
    "EXPIRES",
    "SAVING",
    "SNAPSHOT",
    "delete_image",
    "list_images",
    "refuse_expired",
    "sweep_images",
    "times_of",
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


def times_of(labels: Mapping[str, str]) -> tuple[float, float | None]:
    """When an image was saved, and when it expires, as its labels have it."""
    found: list[float | None] = []
    for label in (CREATED, EXPIRES):
        value = None
        with contextlib.suppress(ValueError):
            value = float(labels.get(label, ""))
        found.append(value)
    return found[0] or 0.0, found[1]


def refuse_expired(name: str, labels: Mapping[str, str]) -> None:
    """Do nothing unless this is the image of a snapshot whose time to live is over.

    What the image says counts: a name of it can be written by anybody.

    Raises:
        ValidationError: It is.
    """
    if SNAPSHOT in labels:
        created, expires = times_of(labels)
        Snapshot("", "", "", name, created_at=created, expires_at=expires).check_alive()


def list_images(engine: Engine) -> list[Snapshot]:
    """Return the snapshots of an engine.

    Raises:
        BackendUnavailableError: It does not answer.
        BackendError: It refused to say.
    """
    api: Any = engine.api
    with engine.errors("list"):
        images = api.images(filters={"label": SNAPSHOT})
    found = []
    for facts in images:
        labels = facts.get("Labels") or {}
        tags = [tag for tag in facts.get("RepoTags") or () if tag != "<none>:<none>"]
        if labels.get(SAVING):
            continue
        ref = str(facts["Id"])
        created, expires = times_of(labels)
        found.append(
            Snapshot(
                labels.get(BACKEND) or engine.name,
                engine.identity,
                ref,
                # Another one may have been given its name.
                tags[0] if tags else ref.removeprefix("sha256:")[:12],
                created_at=created or float(facts.get("Created") or 0),
                expires_at=expires,
                size=int(facts.get("Size") or 0) or None,
            )
        )
    return found


def delete_image(engine: Engine, ref: str) -> bool:
    """Remove the image that a snapshot is; False if there is none.

    Raises:
        BackendError: A container uses it.
        ValidationError: It is no snapshot.
    """
    api: Any = engine.api
    try:
        with engine.errors("inspect", ref):
            facts = api.inspect_image(ref)
        labels = (facts.get("Config") or {}).get("Labels") or {}
        if SNAPSHOT not in labels:
            raise ValidationError(f"image {ref} is no snapshot", parameter="ref")
        with engine.errors("delete", ref):
            for name in facts.get("RepoTags") or [ref]:
                api.remove_image(name)
    except (ImageNotFoundError, ContainerGoneError):
        return False
    return True


def sweep_images(engine: Engine) -> list[Snapshot]:
    """Remove the snapshots whose time to live is over and that no container uses.

    Raises:
        BackendUnavailableError: The engine does not answer.
    """
    from llm_sandbox.exceptions import BackendError

    gone = []
    for one in list_images(engine):
        if one.is_expired:
            # A container uses it: the next sweep finds it again.
            with contextlib.suppress(BackendError):
                if delete_image(engine, one.ref):
                    gone.append(one)
    return gone
