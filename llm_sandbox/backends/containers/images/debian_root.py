"""Debian roots made on this machine, for images without a registry, and layers of changed files."""

import hashlib
import os
import shlex
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path

from llm_sandbox.backends.containers.images.host_programs import run_child
from llm_sandbox.exceptions import MissingDependencyError

__all__ = ["bootstrap_command", "make_debian_root", "write_layer"]

_DEBIAN_NAMES = {"aarch64": "arm64", "armv7l": "armhf", "ppc64le": "ppc64el", "x86_64": "amd64"}
# As in Debian's slim images: licences stay, documentation does not.
_LEFT_OUT = ("doc/*", "groff/*", "info/*", "lintian/*", "locale/*", "man/*")
_OWN = "--exclude='dev/*' --exclude='etc/*/99mmdebstrap'"
_KEPT = ("doc/*/copyright", "locale/locale.alias")


def bootstrap_command(
    target: Path,
    suite: str,
    packages: Sequence[str],
    architecture: str,
    options: Sequence[str] = (),
    ground: Path | None = None,
) -> list[str]:
    """Return the command that writes a Debian root as a tar archive.

    Args:
        target: The archive; its name ends in ``.tar``.
        suite: Debian's name of the release.
        packages: Packages beyond the smallest Debian with apt.
        architecture: Architecture as the kernel names it, such as ``x86_64``.
        options: Further options of dpkg.
        ground: Tar archive of a root to extend; None for a new one.
    """
    if ground is None:
        # `usrmerge`, Debian's default, needs a whole Perl: 45 MB.
        include = ",".join(["usr-is-merged", *packages])
        command = ["mmdebstrap", "--variant=minbase", f"--include={include}"]
        command += ["--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr"]
    else:
        command = ["mmdebstrap", "--variant=custom", f"--include={','.join(packages)}"]
        # Files that mmdebstrap has put there for itself stay.
        unpack = f'tar {_OWN} -C "$1" -xf {shlex.quote(os.fspath(ground))}'
        command += [f"--setup-hook={unpack}", "--skip=check/empty"]
        # Java's packages put links there, whether there are pages or not.
        command += ['--setup-hook=mkdir -p "$1"/usr/share/man/man1']
    command += [f"--architectures={_DEBIAN_NAMES.get(architecture, architecture)}"]
    command += [f"--dpkgopt=path-exclude=/usr/share/{place}" for place in _LEFT_OUT]
    command += [f"--dpkgopt=path-include=/usr/share/{place}" for place in _KEPT]
    command += [f"--dpkgopt={option}" for option in options]
    command += ['--customize-hook=rm -rf "$1"/var/cache/debconf/*-old "$1"/var/log/*.log']
    return [*command, suite, str(target)]


def make_debian_root(
    target: Path,
    suite: str,
    packages: Sequence[str],
    architecture: str,
    on_line: Callable[[str], None],
    options: Sequence[str] = (),
    ground: Path | None = None,
) -> None:
    """Write a Debian root; see `bootstrap_command`.

    Its temporary files are beside the archive, and are removed afterwards.

    Raises:
        MissingDependencyError: This machine has no mmdebstrap.
        BackendError: It failed; the message has its last lines.
    """
    if shutil.which("mmdebstrap") is None:
        raise MissingDependencyError(
            "a Debian root cannot be made here: mmdebstrap is not installed",
            op="build",
            hint="apt-get install mmdebstrap; or let the engine reach a registry, and use "
            "--base registry",
        )
    scratch = target.parent / "debian-root"
    scratch.mkdir(mode=0o755)

    def report(line: str) -> None:
        if line.startswith("I: "):
            on_line(line.removeprefix("I: ").removesuffix("..."))

    try:
        run_child(
            bootstrap_command(target, suite, packages, architecture, options, ground),
            what="making a Debian root",
            hint="Debian's mirror must be reachable, and its keys installed "
            "(apt-get install debian-archive-keyring)",
            # SOURCE_DATE_EPOCH, when the caller has set it, is obeyed as well.
            env={"TMPDIR": str(scratch), "LC_ALL": "C.UTF-8"},
            on_line=report,
        )
    finally:
        _remove(scratch)


def _remove(folder: Path) -> None:
    """Remove a folder that had file systems mounted in it, but no files of those."""
    subprocess.run(
        ["rm", "-rf", "--one-file-system", os.fspath(folder)], check=False, capture_output=True
    )


# Files that engines and installers leave there.
_IGNORED = (
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
    """Write the new and changed files of a root as a tar archive; times do not count.

    Args:
        before: A root as a tar archive.
        after: The same root with more files. Removed files are not noticed.
        target: The archive to write.
    """
    with tarfile.open(before) as archive:
        known = _kinds(archive)
    with tarfile.open(after) as archive, tarfile.open(target, "w") as layer:
        kinds = _kinds(archive)
        for member in archive:
            name = _clean(member.name)
            if f"{name}/".startswith(_IGNORED) or kinds[name] == known.get(name):
                continue
            layer.addfile(member, archive.extractfile(member) if member.isreg() else None)


def _kinds(archive: tarfile.TarFile) -> dict[str, _Kind]:
    """Return the identity of each file by its path: mode, owner and content."""
    found: dict[str, _Kind] = {}
    for member in archive:
        # Engines have the type in the mode as well.
        shared = (member.mode & 0o7777, member.uid, member.gid)
        kind: _Kind
        if member.isreg():
            kind = (*shared, _digest(archive, member))
        elif member.islnk():
            # The order of a file's names is arbitrary.
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
