"""Saving a container as an image, from which others can be made that begin as it was.

The working directory is a file system in memory, which an engine's own commit passes over. Its
files are put into the image at a place of their own, and the supervisor of a container that is made
from it copies them back.
"""

import io
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.containers.upkeep.labels import MARK, OWNER, STARTED, new_labels
from llm_sandbox.exceptions import ValidationError

__all__ = ["SAVED_SITE", "SAVED_WORKDIR", "SNAPSHOT", "save_container"]

SNAPSHOT = "llm-sandbox.snapshot"
"""Label of an image that a container was saved as; its value lists what is at the saved places."""
SAVED_WORKDIR = "/var/lib/llm_sandbox/workdir"
SAVED_SITE = "/var/lib/llm_sandbox/site"


def save_container(
    engine: Engine,
    container: str,
    *,
    image: str,
    changed_root: bool,
    workdir: bytes,
    owner: tuple[int, int],
    site: Path | None,
    name: str,
) -> str:
    """Save a container as an image.

    Args:
        engine: Where it is.
        container: Its id.
        image: Id of the image that it was made from.
        changed_root: Whether more than the working directory may have changed in it.
        workdir: The working directory as a tar archive, with one folder at its top.
        owner: User and group that the files belong to.
        site: Folder of this machine with the installed libraries; None without any.
        name: Name, and tag, of the new image.

    Returns:
        The new image's id.

    Raises:
        BackendError: The engine refused.
        ContainerGoneError: The container has ended.
    """
    repository, _, tag = name.rpartition(":")
    if not repository or "/" in tag:
        repository, tag = name, "latest"
    with engine.errors("inspect", image):
        config: Mapping[str, Any] = engine.client.images.get(image).attrs["Config"] or {}
    changes = _changes(config, "workdir site" if site is not None else "workdir")
    base = image
    if changed_root:
        with engine.errors("commit", container):
            base = str(engine.api.commit(container, changes=changes)["Id"])
    with engine.errors("create", base):
        # Its labels are remembered in the image, so that it has no owner.
        made = engine.api.create_container(base, ["true"], labels={MARK: new_labels()[MARK]})
    filler = str(made["Id"])
    try:
        with engine.errors("copy", filler):
            for archive in _archives(workdir, owner, site):
                engine.api.put_archive(filler, "/", archive)
        with engine.errors("commit", filler):
            saved = engine.api.commit(filler, repository, tag, changes=changes)
        return str(saved["Id"])
    finally:
        with engine.errors("remove", filler):
            engine.api.remove_container(filler, v=True, force=True)


def _changes(config: Mapping[str, Any], places: str) -> list[str]:
    """Dockerfile lines that give the new image the old one's settings, and none of a session's."""
    lines = [
        f"CMD {_words(config.get('Cmd'))}",
        f"ENTRYPOINT {_words(config.get('Entrypoint'))}",
        f"USER {config.get('User') or '0'}",
        f"WORKDIR {config.get('WorkingDir') or '/'}",
        f'LABEL {SNAPSHOT}="{places}"',
    ]
    # A commit takes over the labels of its container, and a label cannot be taken away.
    labels = {**new_labels(), OWNER: "", STARTED: ""}
    return [*lines, *(f'LABEL {label}="{value}"' for label, value in labels.items())]


def _words(words: Sequence[str] | None) -> str:
    import json

    return json.dumps(list(words or ()))


def _archives(workdir: bytes, owner: tuple[int, int], site: Path | None) -> Iterator[bytes]:
    yield _moved(workdir, owner)
    if site is not None:
        yield _packed(site)


def _moved(archive: bytes, owner: tuple[int, int]) -> bytes:
    """The same files below the place where they are saved, with an owner that can read them.

    Raises:
        ValidationError: The archive is not one of ours.
    """
    moved = io.BytesIO()
    prefix = SAVED_WORKDIR.lstrip("/")
    # trust: written inside. It is neither unpacked here nor followed; what it holds goes into an
    # image, as regular files, folders and links only, and never above the place.
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
                    # The place is not the working directory, whose permissions stay its own.
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
