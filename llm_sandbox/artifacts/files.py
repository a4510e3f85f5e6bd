"""The files that a run created or changed, and the artifacts that they are."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from llm_sandbox.results.contents import Content

if TYPE_CHECKING:
    from llm_sandbox.artifacts.artifact import Artifact

__all__ = ["ChangeKind", "ChangedFile", "FileChanges", "artifacts_from_changes"]

ChangeKind = Literal["file", "link", "pipe", "socket", "device", "folder"]
"""What something in a directory is; ``folder`` is a directory that was not looked into."""

_DEVICES = {
    "folder": "inode/directory",
    "link": "inode/symlink",
    "pipe": "inode/fifo",
    "socket": "inode/socket",
    "device": "inode/x-device",
}
"""MIME types of what is no file."""


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """Something in the working directory that a run created or changed."""

    path: str
    """Relative to the working directory; bytes that are not UTF-8 are surrogates."""
    change: Literal["created", "changed"]
    """What the run did."""
    kind: ChangeKind
    """What it is."""
    size: int = 0
    """Bytes of the content that came; without content, as the sandbox lists it."""
    stored_bytes: int = 0
    """Bytes that it takes up, as the sandbox lists it; fewer than `size` in a sparse file."""
    target: str | None = None
    """What a link names; None for anything else."""
    content: Content | None = None
    """The whole content; None when it did not come, and `note` says why."""
    head: bytes = b""
    """The beginning of a file whose content did not come; empty otherwise."""
    mtime_ns: int | None = None
    """When a file whose content did not come was changed last, as the sandbox lists it."""
    note: str = ""
    """What is to be known about it; empty when all is well."""


@dataclass(frozen=True, slots=True)
class FileChanges:
    """What a run did to the working directory, as far as it was looked at."""

    files: tuple[ChangedFile, ...] = ()
    """What it created or changed, those nearest to the top first."""
    omitted: int = 0
    """How many more there are that are not listed."""
    deleted: tuple[str, ...] = ()
    """Paths that it removed, the first 100."""
    deleted_count: int = 0
    """How many paths it removed."""
    notes: tuple[str, ...] = ()
    """What is to be known about the whole, a sentence each."""


def artifacts_from_changes(changes: FileChanges) -> "tuple[Artifact, ...]":
    """Return an artifact for each file, link and device, in the same order.

    What a file is, is told by its bytes.
    """
    # Most runs change no file, and need nothing that tells what files are.
    return tuple(_artifacts(changes.files)) if changes.files else ()


def _artifacts(files: Iterable[ChangedFile]) -> "Iterator[Artifact]":
    for file in files:
        if file.kind != "file":
            yield _named_only(file)
        elif file.content is not None:
            yield _examined(file, file.content)
        else:
            yield _recognised(file)


def _named_only(file: ChangedFile) -> "Artifact":
    from llm_sandbox.artifacts.artifact import Artifact
    from llm_sandbox.artifacts.types import ArtifactType

    is_link = file.kind == "link"
    return Artifact(
        ArtifactType.LINK if is_link else ArtifactType.OTHER,
        _DEVICES[file.kind],
        paths=(file.path,),
        change=file.change,
        # trust: the text of a link; it is shown, and followed by nobody.
        summary=f"-> {file.target}" if is_link and file.target else "",
        note=file.note,
    )


def _examined(file: ChangedFile, content: Content) -> "Artifact":
    from llm_sandbox.artifacts.artifact import Artifact
    from llm_sandbox.artifacts.identify import examine

    # trust: bytes and a name from inside; the bytes decide, and nothing of them is executed.
    found = examine(content.bytes(), name=file.path)
    facts = found.dimensions
    return Artifact(
        found.identity.type,
        found.identity.mime,
        content,
        content.size,
        (file.path,),
        change=file.change,
        width=facts.width,
        height=facts.height,
        dpi=facts.dpi,
        pages=facts.pages,
        duration_s=facts.duration_s,
        note="; ".join(filter(None, (file.note, found.note))),
    )


def _recognised(file: ChangedFile) -> "Artifact":
    from llm_sandbox.artifacts.artifact import Artifact
    from llm_sandbox.artifacts.identify import identify
    from llm_sandbox.artifacts.types import ArtifactType

    if not file.head:
        return Artifact(
            ArtifactType.DATA,
            "application/octet-stream",
            size=file.size,
            paths=(file.path,),
            change=file.change,
            note=file.note,
        )
    found = identify(file.head, name=file.path)
    return Artifact(
        found.type,
        found.mime,
        size=file.size,
        paths=(file.path,),
        change=file.change,
        note="; ".join(filter(None, (file.note, found.note))),
    )
