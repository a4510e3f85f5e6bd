"""C++ libraries: Debian packages, unpacked into a layer."""

import re
from collections.abc import Sequence

from llm_sandbox.language_handlers.debian_packages import DebianPackages
from llm_sandbox.language_handlers.packages import Workplace

__all__ = ["LINK_FILE", "CppPackages"]

LINK_FILE = "link.txt"
"""File in the layer with the linker's options: a response file, as compilers accept it by
``@FILE``."""

_COMPILERS_OWN = frozenset({"libstdc++", "libc", "libm", "libgcc"})
"""Names that users request although no package has them: every compiler includes these."""

_LIBRARY = re.compile(
    r"(?:usr/)?lib/(?:[a-z0-9_]+-linux-[a-z0-9]+/)?lib(?P<name>[A-Za-z0-9_+.-]+)\.(?:so|a)"
)


class CppPackages(DebianPackages):
    """Installer of Debian packages. Headers and libraries are found through environment variables,
    and libraries that a program uses are linked by the options in `LINK_FILE`.
    """

    spec = re.compile(r"[a-z0-9][a-z0-9+.-]*[a-z0-9+](?:=[A-Za-z0-9][A-Za-z0-9.+:~-]*)?", re.ASCII)
    example = "nlohmann-json3-dev or libfmt-dev"

    def install(self, work: Workplace, specs: Sequence[str]) -> None:
        """Install libraries; see `Packages.install`."""
        specs = [spec for spec in specs if spec not in _COMPILERS_OWN]
        if not specs:
            work.place(LINK_FILE, "")
            return
        unpacked = self.fetch(work, specs)
        asked = {spec.partition("=")[0] for spec in specs}
        names: dict[str, None] = {}
        for package, files in sorted(unpacked.items()):
            if package in asked or package.endswith("-dev"):
                names.update(dict.fromkeys(_libraries(files)))
        for package in sorted(asked - unpacked.keys()):
            # The system has it already.
            code, listing = work.attempt("dpkg-query", "-L", package)
            if not code:
                files = [line.removeprefix("/") for line in listing.splitlines()]
                names.update(dict.fromkeys(_libraries(files)))
        options = [f"-l{name}" for name in names]
        work.place(LINK_FILE, "\n".join(["-Wl,--as-needed", *options, ""]) if options else "")


def _libraries(files: Sequence[str]) -> list[str]:
    found = (_LIBRARY.fullmatch(path) for path in files)
    return sorted({match["name"] for match in found if match is not None})
