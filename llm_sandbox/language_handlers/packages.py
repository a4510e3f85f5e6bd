"""The contract of a package manager: how the libraries of a language beside Python get into a
folder.
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
    """Where a package manager runs: a folder, and programs that are started beside it."""

    folder: str
    """The folder as the programs see it; what is in `site` below it becomes the layer."""
    python: str
    """A Python that can be run there."""

    def run(
        self,
        *argv: str,
        says: str = "",
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> str:
        """Run a program to its end and return what it wrote.

        Args:
            argv: The program and its arguments.
            says: What is told of it while it runs; nothing by default.
            env: Further variables.
            cwd: Its working directory; default: the folder.

        Raises:
            LibraryInstallationError: It is not there, or it failed; the error has its words.
            SandboxTimeoutError: The deadline passed.
        """

    def attempt(
        self,
        *argv: str,
        says: str = "",
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> tuple[int, str]:
        """The same for a program that may fail: its exit status, and what it wrote."""

    def has(self, program: str) -> bool:
        """Whether there is a program of that name."""

    def write(self, name: str, text: str | bytes) -> str:
        """Write a file of that name beside `site`, and return its path."""

    def place(self, name: str, text: str) -> None:
        """Write a file of that name into the layer."""

    def unpack(self, name: str) -> dict[str, list[str]]:
        """Unpack all Debian packages of a folder beside `site` into the layer.

        Returns:
            The files of each package, below the layer.
        """

    def apart(self, *names: str) -> "AbstractContextManager[Workplace]":
        """A workplace for packages' own code: without a network, and without any settings.

        Args:
            names: Folders of this one that it gets a copy of. Its `site` becomes the layer.
        """

    def failure(self, output: str, otherwise: str) -> Exception:
        """Return the error that says that the libraries could not be installed.

        Args:
            output: What the package manager wrote, which says why.
            otherwise: The reason where it says nothing.
        """


class Packages(ABC):
    """What there is to know about a package manager; a subclass for each."""

    manager: ClassVar[str]
    """What people call it."""
    registry: ClassVar[str]
    """Where it has packages from, by its usual name."""
    settings_from: ClassVar[str]
    """The command that shows a person where packages come from."""
    needs: ClassVar[Mapping[str, str]] = {}
    """Program to the Debian package that has it."""
    built_for: ClassVar[Sequence[str]] = ()
    """Programs whose version decides what is installed, and for which it works."""
    is_portable: ClassVar[bool] = False
    """Whether what is installed is the same for every machine, and may be built on this one."""
    serves_images: ClassVar[bool] = False
    """Whether what this machine's own installs is good for images that lack the package manager."""
    layout: ClassVar[int] = 1
    """Changed when layers of before are of no use."""
    spec: ClassVar[re.Pattern[str]]
    """What a library looks like."""
    example: ClassVar[str]
    """One that is acceptable, for people."""
    blames: ClassVar[re.Pattern[str]]
    """A line that says why it failed; its first group that is not empty is the reason."""

    def validate(self, library: object) -> str:
        """Return a library in its canonical form.

        Raises:
            ValidationError: It is anything else, such as an option, a URL or a path.
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
        """Return the one spelling that several of the same library share; the same by default."""
        return library

    def normalise(self, specs: Sequence[str]) -> list[str]:
        """Return what several spellings of the same request share.

        Raises:
            ValidationError: One is not acceptable, or there is none.
        """
        if isinstance(specs, str):
            # Its letters would be taken for names.
            raise ValidationError("libraries must be a list of names", parameter="libraries")
        wanted = sorted({self.validate(spec) for spec in specs})
        if not wanted:
            raise ValidationError("there is nothing to install", parameter="libraries")
        return wanted

    def facts(self, path: str) -> list[Any]:
        """What an answer depends on besides the registry, for programs of this machine.

        Args:
            path: Folders that they are in, with colons between them.
        """
        if self.is_portable:
            return []
        return [
            sysconfig.get_platform(),
            _libc(),
            [_identity(name, path) for name in self.built_for],
        ]

    def settings(self, carrier: Carrier) -> None:
        """Carry what this machine's package manager is told to where another one runs."""
        carrier.carry_proxies()

    @abstractmethod
    def install(self, work: Workplace, specs: Sequence[str]) -> None:
        """Install libraries, and what they need, into `site` below the workplace's folder.

        Raises:
            LibraryInstallationError: It could not be done.
            SandboxTimeoutError: The deadline passed.
        """

    def reason(self, output: str) -> str | None:
        """Return what a program's words say of why it failed; None where they say nothing."""
        lines = [line.strip() for line in output.splitlines() if not _NO_WORDS.fullmatch(line)]
        for line in lines:
            found = self.blames.search(line)
            why = next((words for words in found.groups() if words), "") if found else ""
            if why.strip():
                return why.strip()[:_LONGEST_REASON]
        return lines[-1][:_LONGEST_REASON] if lines else None

    def hint(self, output: str) -> str | None:
        """Return what a person can do about a failure; None where that is not known."""
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
    """Return what stands for lines of text in a key."""
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()
