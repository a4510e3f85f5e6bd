"""R libraries: Debian's builds if there are any, and CRAN's sources."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from llm_sandbox.exceptions import LibraryInstallationError
from llm_sandbox.language_handlers.debian_packages import APT_BLAMES, DebianPackages
from llm_sandbox.language_handlers.package_settings import Carrier
from llm_sandbox.language_handlers.packages import Workplace

__all__ = ["SITE_LIBRARY", "RPackages"]

SITE_LIBRARY = "usr/lib/R/site-library"
"""Path, in a layer, of the packages of R."""

_DEBIAN = re.compile(r"r-(?:cran|bioc|other)-[a-z0-9][a-z0-9.+-]*", re.ASCII)
_SOURCES = "cran"
_FEWEST = 100
"""Minimum number of known Debian packages of R. There are ten times as many; a system without
package lists knows only the installed ones."""
_BLAMES = re.compile(
    rf"{APT_BLAMES.pattern}|^(?:ERROR:|Error(?: in [^:]*)?:) *(.+)|^(?:Warning: )?("
    r"unable to access index.+|cannot open URL.+)"
)
_REPOS = re.compile(
    r"repos\b[^\n\"']{0,100}[\"'](?P<address>(?:https?|file)://[^\"'\s]{1,500})[\"']"
)
# Both get their folder and the names as arguments.
_FETCH = r"""
arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
wanted <- arguments[-1]
options(timeout = 60, warn = 1)
repositories <- getOption("repos")
if ("@CRAN@" %in% repositories) {
  utils::chooseCRANmirror(graphics = FALSE, ind = 1, local.only = TRUE)
  repositories <- getOption("repos")
}
wanted <- setdiff(wanted, rownames(installed.packages(priority = "base")))
if (length(wanted) == 0) quit(save = "no")
known <- available.packages(contriburl = contrib.url(repositories, "source"), type = "source")
absent <- setdiff(wanted, rownames(known))
if (nrow(known) > 0 && length(absent) > 0)
  stop("there is no package called ", paste(absent, collapse = ", "), call. = FALSE)
if (nrow(known) == 0) stop("unable to access index of the repository", call. = FALSE)
kinds <- c("Depends", "Imports", "LinkingTo")
needed <- tools::package_dependencies(wanted, known, which = kinds, recursive = TRUE)
have <- rownames(installed.packages())
needed <- unique(c(wanted, setdiff(intersect(unlist(needed), rownames(known)), have)))
got <- download.packages(needed, folder, available = known, type = "source", quiet = TRUE)
absent <- setdiff(needed, got[, 1])
if (length(absent) > 0) stop("cannot open URL of ", paste(absent, collapse = ", "), call. = FALSE)
# Those of a repository that is a folder are only named.
elsewhere <- got[normalizePath(dirname(got[, 2])) != normalizePath(folder), 2]
if (length(elsewhere) > 0 && !all(file.copy(elsewhere, folder)))
  stop("cannot copy the packages", call. = FALSE)
tools::write_PACKAGES(folder, type = "source")
"""
_INSTALL = r"""
arguments <- commandArgs(trailingOnly = TRUE)
library <- arguments[1]
source <- paste0("file://", arguments[2])
names <- rownames(available.packages(contriburl = source, type = "source", filters = list()))
if (length(names) == 0) quit(save = "no")
install.packages(names, lib = library, contriburl = source, type = "source",
                 INSTALL_opts = c("--no-docs", "--no-test-load"))
absent <- setdiff(names, rownames(installed.packages(library)))
if (length(absent) > 0)
  stop("installation failed of ", paste(absent, collapse = ", "), call. = FALSE)
"""


class RPackages(DebianPackages):
    """Installer of R packages by name. Debian's compiled packages are preferred; others come from
    CRAN, and are compiled without network.
    """

    manager = "R"
    registry = "Debian's archive, or CRAN,"
    settings_from = "the files below /etc/apt, and options('repos') in ~/.Rprofile"
    built_for: ClassVar = ("R",)
    spec = re.compile(rf"[A-Za-z][A-Za-z0-9.]*[A-Za-z0-9]|{_DEBIAN.pattern}", re.ASCII)
    example = "data.table (its newest version there is)"
    blames = _BLAMES

    def settings(self, carrier: Carrier) -> None:
        """Carry the settings of R and apt; see `Packages.settings`."""
        super().settings(carrier)
        carrier.carry("R_REPOSITORIES_URL")
        profile = carrier.environment.get("R_PROFILE_USER") or str(carrier.home / ".Rprofile")
        repositories = _repositories(carrier.read(Path(profile)) or "")
        if repositories is not None:
            code = f'options(repos = c(CRAN = "{carrier.share(repositories)}"))\n'
            carrier.variables["R_PROFILE_USER"] = carrier.keep("Rprofile", code)

    def install(self, work: Workplace, specs: Sequence[str]) -> None:
        """Install libraries; see `Packages.install`."""
        debian, others, fresh = self._divide(work, specs)
        if debian:
            self.fetch(work, debian, fresh=fresh)
        if others:
            self._from_source(work, others)

    def _divide(self, work: Workplace, specs: Sequence[str]) -> tuple[list[str], list[str], bool]:
        """Return the names of the Debian packages, the libraries that Debian lacks, and whether
        package lists were downloaded.
        """
        names = {
            spec: spec if _DEBIAN.fullmatch(spec) else f"r-cran-{spec.lower()}" for spec in specs
        }
        if not work.has("apt-cache"):
            return [], list(specs), False
        known = self._known(work, fresh=False)
        fresh = len(known) < _FEWEST
        if fresh:
            try:
                self.update(work)
            except LibraryInstallationError:
                fresh = False
            known = self._known(work, fresh=fresh)
        debian = [name for spec, name in names.items() if name in known or name == spec]
        return debian, [spec for spec, name in names.items() if name not in debian], fresh

    def _known(self, work: Workplace, *, fresh: bool) -> set[str]:
        command = [*self.apt(work, "apt-cache", fresh=fresh), "pkgnames"]
        found: set[str] = set()
        for prefix in ("r-cran-", "r-bioc-", "r-other-"):
            code, output = work.attempt(*command, prefix)
            found |= set() if code else set(output.split())
        return found

    def _from_source(self, work: Workplace, specs: Sequence[str]) -> None:
        sources = f"{work.folder}/{_SOURCES}"
        site = f"{work.folder}/site/{SITE_LIBRARY}"
        work.run("mkdir", "-p", sources, site)
        script = work.write("fetch.R", _FETCH)
        says = f"fetching {' '.join(specs)} from CRAN"
        work.run("Rscript", script, sources, *specs, says=says, env={"R_LIBS": site})
        with work.apart("site", _SOURCES) as place:
            site = f"{place.folder}/site/{SITE_LIBRARY}"
            place.run("mkdir", "-p", site)
            script = place.write("install.R", _INSTALL)
            place.run(
                *("Rscript", "--vanilla", script, site, f"{place.folder}/{_SOURCES}"),
                says=f"compiling {' '.join(specs)}",
                env={"R_LIBS": site},
            )


def _repositories(profile: str) -> str | None:
    """Return the address of the first repository named in a start-up file."""
    found = _REPOS.search(profile)
    return found["address"] if found is not None else None
