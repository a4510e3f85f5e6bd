"""Snapshots of containers: images that containers are committed to, and their store.

The working directory is a file system in memory, which the engine's commit does not include. Its
files are copied into a folder of the image (`SAVED_WORKDIR`), from which the supervisor of a new
container copies them back.

The last commit gives the image its name and its labels at once, which make it a snapshot. Images
that a killed process leaves before have no name, and a label with their owner.
"""

import builtins
import contextlib
import io
import re
import tarfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.containers.gc.labels import OWNER, STARTED, new_labels
from llm_sandbox.backends.inventory import current_owner
from llm_sandbox.backends.snapshot import Snapshot, SnapshotStore
from llm_sandbox.exceptions import (
    BackendError,
    BackendUnavailableError,
    ContainerGoneError,
    ImageNotFoundError,
    ValidationError,
)

__all__ = [
    "EXPIRES",
    "SAVED_SITE",
    "SAVED_WORKDIR",
    "SAVING",
    "SNAPSHOT",
    "EngineSnapshots",
    "commit_container",
    "reject_expired",
    "snapshot_times",
]

SAVED_WORKDIR = "/var/lib/llm_sandbox/workdir"
"""Folder of an image with a saved working directory."""
SAVED_SITE = "/var/lib/llm_sandbox/site"
"""Folder of an image with saved libraries."""

SNAPSHOT = "llm-sandbox.snapshot"
"""Label of a snapshot; its value lists the saved parts: ``workdir``, ``site``."""
_BACKEND = "llm-sandbox.snapshot.backend"
"""Label with the name of the sandbox's backend."""
_CREATED = "llm-sandbox.snapshot.created"
"""Label with the time of creation, in seconds since 1970."""
EXPIRES = "llm-sandbox.snapshot.expires"
"""Label with the time of expiry, in seconds since 1970; empty for never."""
SAVING = "llm-sandbox.saving"
"""Label of an intermediate image or container with the process that is saving it; empty in the
snapshot."""

_ENDING_S = 1.0
"""Seconds in which the processes of a destroyed sandbox end."""
_GOING_S = 15.0
"""Seconds in which the engine removes the container after that."""
_LOOK_S = 0.05

_IMAGE_NAME = re.compile(r"[a-z0-9][a-z0-9._/:-]*(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?")
_ENGINE_VARIABLES = ("HOME", "HOSTNAME", "PATH", "TERM", "container")
"""Variables that engines set in containers by themselves."""


def commit_container(
    engine: Engine,
    container: str,
    *,
    image: str,
    changed_root: bool,
    workdir: bytes,
    owner: tuple[int, int],
    site: Path | None,
    name: str,
    backend: str,
    created_at: float,
    expires_at: float | None,
) -> str:
    """Save a container as an image.

    Args:
        engine: The container's engine.
        container: Its id.
        image: Id of the image that it was made from.
        changed_root: Whether more than the working directory may have changed in it.
        workdir: The working directory as a tar archive, with one folder at its top.
        owner: User id and group id of its files.
        site: Folder of this machine with the installed libraries; None without any.
        name: Name, and tag, of the new image.
        backend: Name of the sandbox's backend.
        created_at: Time of creation, in seconds since 1970.
        expires_at: Time of expiry, in seconds since 1970; None for never.

    Returns:
        The new image's id.

    Raises:
        BackendError: The engine refused.
        ContainerGoneError: The container has ended.
        ValidationError: An image cannot have the name.
    """
    if not _IMAGE_NAME.fullmatch(name):
        raise ValidationError(
            "invalid name of an image: expected lower-case letters, digits and . _ - / with an "
            f"optional tag after a colon, got {name!r}",
            parameter="name",
            hint="name='team/data:1'",
        )
    repository, _, tag = name.rpartition(":")
    if not repository or "/" in tag:
        repository, tag = name, "latest"
    with engine.errors("inspect", image):
        config: Mapping[str, Any] = engine.client.images.get(image).attrs["Config"] or {}
    base = image
    if changed_root:
        step = _changes(config, {SAVING: str(current_owner())})
        with engine.errors("commit", container):
            given = engine.api.inspect_container(container)["Config"].get("Env") or ()
            step += _without_variables(given, config.get("Env") or ())
            base = str(engine.api.commit(container, changes=step)["Id"])
    changes = _changes(
        config,
        {
            SNAPSHOT: "workdir site" if site is not None else "workdir",
            _BACKEND: backend,
            _CREATED: repr(created_at),
            EXPIRES: "" if expires_at is None else repr(expires_at),
            SAVING: "",
        },
    )
    with engine.errors("create", base):
        # With an owner, so that gc removes it if this process is killed; the image has none.
        labels = {**new_labels(), SAVING: str(current_owner())}
        made = engine.api.create_container(base, ["true"], labels=labels)
    filler = str(made["Id"])
    try:
        with engine.errors("copy", filler):
            for archive in _archives(workdir, owner, site):
                engine.api.put_archive(filler, "/", archive)
        with engine.errors("commit", filler):
            saved = engine.api.commit(filler, repository, tag, changes=changes)
        # Podman answers without the prefix, and takes an id without it for a name.
        return "sha256:" + str(saved["Id"]).removeprefix("sha256:")
    finally:
        with engine.errors("remove", filler):
            engine.api.remove_container(filler, v=True, force=True)


def _changes(config: Mapping[str, Any], own: Mapping[str, str]) -> list[str]:
    """Return Dockerfile lines that restore the settings of the old image in the new one."""
    lines = [
        f"CMD {_words(config.get('Cmd'))}",
        f"ENTRYPOINT {_words(config.get('Entrypoint'))}",
        f"USER {config.get('User') or '0'}",
        f"WORKDIR {config.get('WorkingDir') or '/'}",
    ]
    # A commit keeps the labels of its container, and a label cannot be removed.
    labels = {**new_labels(), OWNER: "", STARTED: "", **own}
    return [*lines, *(f'LABEL {label}="{value}"' for label, value in labels.items())]


def _without_variables(given: Sequence[str], image: Sequence[str]) -> list[str]:
    """Return lines that reset the variables of a container to those of the image.

    A commit would keep them, and they may be secrets.
    """
    before = dict(line.partition("=")[::2] for line in image)
    now = dict(line.partition("=")[::2] for line in given)
    changed = [
        name
        for name, value in now.items()
        if before.get(name) != value and not (name in _ENGINE_VARIABLES and name not in before)
    ]
    return [f"ENV {name}={_quoted(before.get(name, ''))}" for name in changed]


def _quoted(value: str) -> str:
    escaped = "".join(f"\\{one}" if one in '"\\$' else one for one in value)
    return f'"{escaped}"'


def _words(words: Sequence[str] | None) -> str:
    import json

    return json.dumps(list(words or ()))


def _archives(workdir: bytes, owner: tuple[int, int], site: Path | None) -> Iterator[bytes]:
    yield _moved(workdir, owner)
    if site is not None:
        yield _packed(site)


def _moved(archive: bytes, owner: tuple[int, int]) -> bytes:
    """Return the archive with its files below `SAVED_WORKDIR`, and with another owner.

    Raises:
        ValidationError: It is not a tar archive.
    """
    moved = io.BytesIO()
    prefix = SAVED_WORKDIR.lstrip("/")
    # trust: written inside. It is neither unpacked here nor followed; its members go into an image
    # as regular files, folders and links only, and never above the folder.
    try:
        with (
            tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as source,
            tarfile.open(fileobj=moved, mode="w") as target,
        ):
            for folder in _parents(f"{prefix}/"):
                target.addfile(folder)
            for member in source:
                _, _, inside = member.name.partition("/")
                if not (member.isreg() or member.isdir() or member.issym()):
                    continue
                if ".." in inside.split("/"):
                    continue
                member.name = f"{prefix}/{inside}".rstrip("/")
                if not inside:
                    # The folder itself, not the working directory, which keeps its permissions.
                    member.mode = 0o755
                member.uid, member.gid = owner
                member.uname = member.gname = ""
                member.pax_headers = {}
                target.addfile(member, source.extractfile(member) if member.isreg() else None)
    except tarfile.TarError as error:
        raise ValidationError(
            f"the working directory could not be read: {error}", parameter="workdir"
        ) from None
    return moved.getvalue()


def _packed(site: Path) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for folder in _parents(f"{SAVED_SITE.lstrip('/')}/"):
            archive.addfile(folder)
        archive.add(site, SAVED_SITE.lstrip("/"), filter=_roots)
    return packed.getvalue()


def _parents(path: str) -> Iterator[tarfile.TarInfo]:
    parts = path.strip("/").split("/")[:-1]
    for end in range(1, len(parts) + 1):
        folder = tarfile.TarInfo("/".join(parts[:end]))
        folder.type = tarfile.DIRTYPE
        folder.mode = 0o755
        yield folder


def _roots(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def snapshot_times(labels: Mapping[str, str]) -> tuple[float, float | None]:
    """Return the times of creation and expiry that an image's labels have."""
    found: list[float | None] = []
    for label in (_CREATED, EXPIRES):
        value = None
        with contextlib.suppress(ValueError):
            value = float(labels.get(label, ""))
        found.append(value)
    return found[0] or 0.0, found[1]


def reject_expired(name: str, labels: Mapping[str, str]) -> None:
    """Reject the image of an expired snapshot.

    The labels decide: a `Snapshot` object can be written by anybody.

    Raises:
        ValidationError: The snapshot has expired.
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
                    labels.get(_BACKEND) or self._engine.name,
                    self._engine.identity,
                    ref,
                    # Another image may have its name by now.
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
                raise ValidationError(f"image {ref} is not a snapshot", parameter="ref")
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
    """Return whether a container of an image lives.

    Engines list a destroyed container as running for some time.
    """
    api: Any = engine.api
    image = ref.removeprefix("sha256:")
    with engine.errors("list"):
        containers = api.containers(all=True)
    for one in containers:
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
