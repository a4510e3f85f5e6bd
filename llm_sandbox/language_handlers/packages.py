"""Contract of a package manager: installation of the libraries of a language other than Python into
a folder.
"""

import hashlib
import os
import re
import shutil
import sysconfig
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from llm_sandbox.exceptions import ValidationError
from llm_sandbox.language_handlers.package_settings import Carrier

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

__all__ = ["Packages", "Workplace", "digest_of"]

_LONGEST_SPEC = 200
_LONGEST_REASON = 500
_UNREACHABLE = re.compile(
    r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH"
    r"|name resolution|Name or service not known|no such host|Could not resolve|Couldn't resolve"
    r"|Failed to establish a new connection|Failed to open TCP connection|dial tcp|i/o timeout"
    r"|Connection refused|Network is unreachable|No route to host|Could not connect"
    r"|Unable to connect|unable to access index|cannot open URL|timed out|Timeout was reached"
    r"|\b(?:403 Forbidden|407 Proxy|502 Bad Gateway|503 Service)",
    re.IGNORECASE,
)
_NO_WORDS = re.compile(r"[\s.\-=*#^~|+]*")


class Workplace(Protocol):
    """Environment of a package manager: a folder, and programs started with access to it."""

    folder: str
    """Path of the folder as the programs see it; the contents of its subfolder `site` become the
    layer."""
    python: str
    """Path of a Python interpreter that can be run."""

    def run(
        self,
        *argv: str,
        says: str = "",
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> str:
        """Run a program to completion and return its output.

        Args:
            argv: The program and its arguments.
            says: Progress message to report while it runs; none by default.
            env: Additional environment variables.
            cwd: Working directory; default: the folder.

        Raises:
            LibraryInstallationError: The program is missing or failed; the error has its output.
            SandboxTimeoutError: The deadline passed.
        """

    def attempt(
        self,
        *argv: str,
        says: str = "",
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> tuple[int, str]:
        """Run a program that may fail, and return its exit status and output."""

    def has(self, program: str) -> bool:
        """Return whether there is a program with this name."""

    def write(self, name: str, text: str | bytes) -> str:
        """Write a file with this name beside `site`, and return its path."""

    def place(self, name: str, text: str) -> None:
        """Write a file with this name into the layer."""

    def unpack(self, name: str) -> dict[str, list[str]]:
        """Unpack all Debian packages of a folder beside `site` into the layer.

        Returns:
            The files of each package, below the layer.
        """

    def apart(self, *names: str) -> "AbstractContextManager[Workplace]":
        """Return a workplace for code of packages: without network, and without settings.

        Args:
            names: Folders of this workplace to copy. The `site` of the new one becomes the layer.
        """

    def failure(self, output: str, otherwise: str) -> Exception:
        """Return an error for libraries that could not be installed.

        Args:
            output: Output of the package manager, which is searched for the reason.
            otherwise: Reason to give if the output has none.
        """


class Packages(ABC):
    """Base class of package managers."""

    manager: ClassVar[str]
    """Name of the package manager, for messages."""
    registry: ClassVar[str]
    """Usual name of the registry that packages come from."""
    settings_from: ClassVar[str]
    """Command or file that shows a user where packages come from."""
    needs: ClassVar[Mapping[str, str]] = {}
    """Required programs, with the Debian package of each."""
    built_for: ClassVar[Sequence[str]] = ()
    """Programs whose version determines what is installed, and for which it works."""
    is_portable: ClassVar[bool] = False
    """Whether the installed files are the same for every machine, and may be built on this one."""
    serves_images: ClassVar[bool] = False
    """Whether the host's package manager can install for images that lack one."""
    layout: ClassVar[int] = 1
    """Version of the layer's layout; a change invalidates existing layers."""
    spec: ClassVar[re.Pattern[str]]
    """Pattern of a valid library."""
    example: ClassVar[str]
    """Example of a valid library, for messages."""
    blames: ClassVar[re.Pattern[str]]
    """Pattern of an output line with the reason of a failure; its first non-empty group is the
    reason."""

    def validate(self, library: object) -> str:
        """Return a library in its canonical form.

        Raises:
            ValidationError: The library is anything else, such as an option, a URL or a path.
        """
        fits = isinstance(library, str) and len(library) <= _LONGEST_SPEC
        if not fits or self.spec.fullmatch(library.strip(" ")) is None:  # type: ignore[attr-defined]
            # What was refused may be a URL with a token in it, so it is not repeated.
            raise ValidationError(
                f"not a package of {self.manager}",
                parameter="libraries",
                hint=f"give a name, with a version if it matters, such as {self.example}",
            )
        return self.canonical(library.strip(" "))  # type: ignore[attr-defined]

    def canonical(self, library: str) -> str:
        """Return the canonical one of several spellings of a library; unchanged by default."""
        return library

    def normalise(self, specs: Sequence[str]) -> list[str]:
        """Return the canonical form of a request, which its different spellings share.

        Raises:
            ValidationError: A library is invalid, or the request is empty.
        """
        if isinstance(specs, str):
            # Its letters would be taken for names.
            raise ValidationError("libraries must be a list of names", parameter="libraries")
        wanted = sorted({self.validate(spec) for spec in specs})
        if not wanted:
            raise ValidationError("there is nothing to install", parameter="libraries")
        return wanted

    def facts(self, path: str) -> list[Any]:
        """Return what the result of an installation depends on besides the registry, for programs
        of the host.

        Args:
            path: Search path of the programs: folders separated by colons.
        """
        if self.is_portable:
            return []
        return [
            sysconfig.get_platform(),
            _libc(),
            [_identity(name, path) for name in self.built_for],
        ]

    def settings(self, carrier: Carrier) -> None:
        """Carry the settings of the host's package manager to the environment where another one
        runs.
        """
        carrier.carry_proxies()

    @abstractmethod
    def install(self, work: Workplace, specs: Sequence[str]) -> None:
        """Install libraries, and their dependencies, into `site` below the workplace's folder.

        Raises:
            LibraryInstallationError: The installation failed.
            SandboxTimeoutError: The deadline passed.
        """

    def reason(self, output: str) -> str | None:
        """Return the reason of a failure from a program's output; None if the output has none."""
        lines = [line.strip() for line in output.splitlines() if not _NO_WORDS.fullmatch(line)]
        for line in lines:
            found = self.blames.search(line)
            why = next((words for words in found.groups() if words), "") if found else ""
            if why.strip():
                return why.strip()[:_LONGEST_REASON]
        return lines[-1][:_LONGEST_REASON] if lines else None

    def hint(self, output: str) -> str | None:
        """Return advice for the user about a failure; None if there is none."""
        if _UNREACHABLE.search(output):
            return (
                f"{self.registry} could not be reached: check the network, or {self.settings_from}"
            )
        return None


def _libc() -> str:
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        return ""


def _identity(program: str, path: str) -> list[Any]:
    found = shutil.which(program, path=path)
    if found is None:
        return [program]
    real = os.path.realpath(found)
    status = Path(real).stat()
    return [program, real, status.st_size, status.st_mtime_ns]


def digest_of(lines: Sequence[str]) -> str:
    """Return a digest of lines of text, for use in a key."""
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()
