"""Debian packages that the system lacks: resolved, verified and downloaded by apt, not
installed.
"""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from llm_sandbox.language_handlers.package_settings import Carrier
from llm_sandbox.language_handlers.packages import Packages, Workplace, digest_of

__all__ = ["APT_BLAMES", "DEBS", "DebianPackages"]

DEBS = "debs"
"""Folder that packages are downloaded to."""

APT_BLAMES = re.compile(r"^(?:E: |Err:\d+ )((?!Failed to fetch|Some |Sub-process).+)")

_ASK_S = 20
_ETC = "/etc/apt"
_KEYRINGS = "/etc/apt/keyrings"
_DPKG = "/var/lib/dpkg"
_LISTS = "/var/lib/apt/lists"
_STALE = re.compile(
    r"Unable to locate package|has no installation candidate|404 |Failed to fetch|was not found"
    r"|Couldn't find any package"
)
_DUMPED = re.compile(r'(?P<name>Acquire::[A-Za-z0-9:._*-]+) "[^"\n]*";')
_NOT_CARRIED = re.compile(r"::(?:Proxy-Auto-Detect|ProxyAutoDetect|Changelogs|IndexTargets)", re.I)
_INSTALL = ("-q", "--download-only", "-y", "--no-install-recommends", "--no-remove")
_OPTIONS = {
    "Debug::NoLocking": "1",
    "APT::Sandbox::User": "root",
    "Acquire::Languages": "none",
    "Acquire::Retries": "1",
    "Acquire::http::Timeout": "20",
    "Acquire::https::Timeout": "20",
}


class DebianPackages(Packages):
    """Base class for languages whose libraries are Debian packages. Nothing is installed: packages
    are unpacked, so that maintainer scripts do not run.
    """

    manager = "apt"
    registry = "Debian's archive"
    settings_from = "the files below /etc/apt"
    needs: ClassVar = {"apt-get": "apt"}
    blames = APT_BLAMES

    def facts(self, path: str) -> list[Any]:
        """Return facts for the cache key; see `Packages.facts`."""
        # A layer has only what the system lacked.
        try:
            status = Path(_DPKG, "status").read_text("utf-8", "surrogateescape")
        except OSError:
            status = ""
        return [*super().facts(path), digest_of([status])]

    def settings(self, carrier: Carrier) -> None:
        """Carry apt's settings; see `Packages.settings`."""
        super().settings(carrier)
        lines = _network_options(proxies_only=carrier.for_image)
        if not carrier.for_image:
            lines += _system_options(carrier)
        carrier.variables["APT_CONFIG"] = carrier.keep("apt.conf", "\n".join([*lines, ""]))

    def fetch(
        self, work: Workplace, names: Sequence[str], *, fresh: bool = False
    ) -> dict[str, list[str]]:
        """Unpack Debian packages, and their dependencies that are not installed, into the layer.

        Args:
            work: Workplace to unpack in.
            names: Names of the packages, optionally with ``=`` and a version.
            fresh: Whether `update` was called.

        Returns:
            The files of each package.
        """
        says = f"fetching {' '.join(names)}"
        work.run("mkdir", "-p", f"{work.folder}/{DEBS}/partial")
        arguments = ("install", *_INSTALL, "--", *names)
        code, output = work.attempt(*self.apt(work, fresh=fresh), *arguments, says=says)
        if code and not fresh and _STALE.search(output):
            self.update(work)
            work.run(*self.apt(work, fresh=True), *arguments, says=says)
        elif code:
            raise work.failure(output, "apt-get failed")
        return work.unpack(DEBS)

    def update(self, work: Workplace) -> None:
        """Download package lists, for a workplace whose system has none or outdated ones."""
        work.run("mkdir", "-p", f"{work.folder}/apt/lists/partial")
        command = [*self.apt(work, fresh=True), "-q", "update"]
        work.run(*command, says="updating the list of packages")

    def apt(self, work: Workplace, program: str = "apt-get", *, fresh: bool = False) -> list[str]:
        """Return the beginning of an apt command line.

        Args:
            work: Workplace that the command runs in.
            program: Program of apt.
            fresh: Whether to use separate package lists instead of the system's.
        """
        own = f"{work.folder}/apt"
        places = {
            "Dir::State": f"{own}/state",
            "Dir::Cache": f"{own}/cache",
            "Dir::Cache::archives": f"{work.folder}/{DEBS}",
            "Dir::Log": f"{own}/log",
        }
        if fresh:
            places["Dir::State::lists"] = f"{own}/lists"
        words = [word for item in {**_OPTIONS, **places}.items() for word in ("-o", "=".join(item))]
        return [program, *words]


def _network_options(*, proxies_only: bool) -> list[str]:
    """Return the network settings of the host's apt, in apt's configuration syntax."""
    command = ["apt-config", "dump"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_ASK_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    found = [match for line in lines if (match := _DUMPED.fullmatch(line.strip()))]
    return [
        match[0]
        for match in found
        if not _NOT_CARRIED.search(match["name"])
        and (match["name"].lower().endswith("::proxy") or not proxies_only)
    ]


def _system_options(carrier: Carrier) -> list[str]:
    """Return apt options for the host's sources, keys, lists and installed packages."""
    lines = []
    if Path(_ETC).is_dir():
        # Only what was read of its parts: hooks are for the system.
        lines.append(f'Dir::Etc "{carrier.share(_ETC)}";')
        lines.append('Dir::Etc::parts "/dev/null"; Dir::Etc::main "/dev/null";')
    if Path(_KEYRINGS).is_dir():
        # Lists of sources name its files by their paths.
        carrier.folders[_KEYRINGS] = _KEYRINGS
    logins = [*sorted(Path(_ETC, "auth.conf.d").glob("*.conf")), Path(_ETC, "auth.conf")]
    known = "\n".join(filter(None, map(carrier.read, logins)))
    if known:
        lines.append(f'Dir::Etc::netrc "{carrier.keep("auth.conf", known)}";')
    if Path(_DPKG, "status").is_file():
        lines.append(f'Dir::State::status "{carrier.share(_DPKG)}/status";')
        carrier.variables["DPKG_ADMINDIR"] = carrier.share(_DPKG)
    if Path(_LISTS).is_dir():
        lines.append(f'Dir::State::lists "{carrier.share(_LISTS)}";')
    return lines
