"""What a Debian root has beyond the image that it was made from: a layer for that image."""

import hashlib
import tarfile
from pathlib import Path

__all__ = ["write_layer"]

# What engines and installers leave there is nobody's.
_PASSED_OVER = (
    ".dockerenv/",
    "dev/",
    "etc/hostname/",
    "etc/hosts/",
    "etc/resolv.conf/",
    "proc/",
    "run/",
    "sys/",
    "tmp/",
    "var/cache/apt/",
    "var/lib/apt/lists/",
)
_PIECE = 1 << 20

_Kind = tuple[object, ...]


def write_layer(before: Path, after: Path, target: Path) -> None:
    """Write the files that are new or other than before as a tar archive; times do not count.

    Args:
        before: A root as a tar archive.
        after: The same with more in it. What it lacks is not looked for.
        target: The archive to write.
    """
    with tarfile.open(before) as archive:
        known = _kinds(archive)
    with tarfile.open(after) as archive, tarfile.open(target, "w") as layer:
        kinds = _kinds(archive)
        for member in archive:
            name = _clean(member.name)
            if f"{name}/".startswith(_PASSED_OVER) or kinds[name] == known.get(name):
                continue
            layer.addfile(member, archive.extractfile(member) if member.isreg() else None)


def _kinds(archive: tarfile.TarFile) -> dict[str, _Kind]:
    """What makes each file what it is, by its path."""
    found: dict[str, _Kind] = {}
    for member in archive:
        # Engines give the type in the mode as well.
        shared = (member.mode & 0o7777, member.uid, member.gid)
        kind: _Kind
        if member.isreg():
            kind = (*shared, _digest(archive, member))
        elif member.islnk():
            # Which of a file's names comes first is chance.
            kind = found[_clean(member.linkname)]
        else:
            kind = (*shared, member.type, member.linkname)
        found[_clean(member.name)] = kind
    return found


def _clean(name: str) -> str:
    return name.removeprefix("./").strip("/")


def _digest(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    content = archive.extractfile(member)
    assert content is not None  # noqa: S101 - it is a file
    digest = hashlib.sha256()
    while piece := content.read(_PIECE):
        digest.update(piece)
    return digest.digest()
