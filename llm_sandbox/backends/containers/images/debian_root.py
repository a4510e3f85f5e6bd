"""A Debian root made on this machine, for images where no registry can be reached."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from llm_sandbox.backends.containers.images.child import run_child
from llm_sandbox.exceptions import MissingDependencyError

__all__ = ["bootstrap_command", "make_debian_root"]

_DEBIAN_NAMES = {"aarch64": "arm64", "armv7l": "armhf", "ppc64le": "ppc64el", "x86_64": "amd64"}
# As in the registry's slim images: licences stay, what only people read does not.
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
    """The command that writes a Debian root as a tar archive.

    Args:
        target: The archive; its name ends in ``.tar``.
        suite: Debian's name of the release.
        packages: What it has beyond the smallest Debian with apt.
        architecture: As the kernel names it, such as ``x86_64``.
        options: What dpkg is told besides.
        ground: A tar archive of the root to go on with; None to begin with nothing.
    """
    if ground is None:
        # `usrmerge`, which Debian takes by default, would bring a whole Perl: 45 MB.
        include = ",".join(["usr-is-merged", *packages])
        command = ["mmdebstrap", "--variant=minbase", f"--include={include}"]
        command += ["--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr"]
    else:
        command = ["mmdebstrap", "--variant=custom", f"--include={','.join(packages)}"]
        # What mmdebstrap has put there before, for itself, stays.
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

    Its temporary files lie beside the archive, and are gone afterwards.

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

    def hear(line: str) -> None:
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
            on_line=hear,
        )
    finally:
        _remove(scratch)


def _remove(folder: Path) -> None:
    """Remove a folder that had file systems mounted in it, without ever reaching into one."""
    subprocess.run(
        ["rm", "-rf", "--one-file-system", os.fspath(folder)], check=False, capture_output=True
    )
