"""Python of an image, for which libraries are installed from outside.

pip chooses wheels by this description, and all of it comes from inside: it is validated strictly.
"""

import contextlib
import importlib.util
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from packaging.utils import InvalidName, canonicalize_name
from packaging.version import InvalidVersion, Version

__all__ = ["PROBE", "TargetPython", "read_name", "read_target", "read_version", "same_version"]

_OLDEST = (3, 9)
_OLDEST_GLIBC = 5
_MOST_DISTRIBUTIONS = 5000
_LONGEST_NAME = 200
_LONGEST_VERSION = 100
_MACHINE = re.compile(r"[a-z0-9_]{2,32}", re.ASCII)
_MAGIC = re.compile(r"[0-9a-f]{8}", re.ASCII)
_PATH = re.compile(r"(?:/[A-Za-z0-9._+-]{1,100}){1,20}", re.ASCII)
_SOABI = re.compile(r"cpython-\d{2,4}(?P<flags>[td]{0,2})(?:-.*)?", re.ASCII)

# Runs in the image's Python, whichever it is, with folders of further libraries as its arguments,
# and says nothing but what it finds.
PROBE = r"""
import json, sys
found = {"version": list(sys.version_info[:3])}
if sys.version_info >= (3, 9):
    import glob, importlib.metadata, importlib.util, os, struct, subprocess, sysconfig
    try:
        libc = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError, AttributeError):
        libc = ""
    for loader in [] if libc else glob.glob("/lib/ld-musl-*.so.1"):
        said = subprocess.run([loader], capture_output=True).stderr.decode("utf-8", "replace")
        libc = "musl " + (said.partition("Version ")[2].split() or [""])[0]
    named = []
    for distribution in importlib.metadata.distributions(path=sys.argv[1:] + sys.path):
        try:
            named.append([distribution.metadata["Name"], distribution.version])
        except Exception:
            pass
    found.update(
        implementation=sys.implementation.name,
        executable=sys.executable,
        soabi=sysconfig.get_config_var("SOABI") or "",
        magic=importlib.util.MAGIC_NUMBER.hex(),
        bits=8 * struct.calcsize("P"),
        machine=os.uname().machine,
        libc=libc,
        distributions=named,
    )
print(json.dumps(found))
"""


def read_name(text: object) -> str:
    """Return the canonical name of a distribution.

    Raises:
        ValueError: The text is not a name.
    """
    # trust: printed inside. packaging limits no length, and its older releases end at a line feed.
    if not isinstance(text, str) or len(text) > _LONGEST_NAME or not _is_plain(text):
        raise InvalidName("not a distribution name")
    return canonicalize_name(text, validate=True)


def read_version(text: object) -> Version:
    """Return the version of a distribution.

    Raises:
        ValueError: The text is not a version.
    """
    # trust: printed inside. packaging limits no length, and strips white space.
    if not isinstance(text, str) or len(text) > _LONGEST_VERSION or not _is_plain(text):
        raise InvalidVersion("not a version")
    return Version(text)


def same_version(one: str, other: str) -> bool:
    """Return whether two versions differ at most in their local parts."""
    return Version(Version(one).public) == Version(Version(other).public)


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text


@dataclass(frozen=True)
class TargetPython:
    """Description of a Python, by which wheels are chosen."""

    version: tuple[int, int, int]
    executable: str
    """Path inside."""
    abi: str
    """ABI tag, such as ``cp311``."""
    platforms: tuple[str, ...]
    """Platform tags of wheels, the best first."""
    machine: str
    """Machine type, as `os.uname` returns it inside."""
    magic: str
    """Magic number of its byte code, in hexadecimal."""
    distributions: Mapping[str, str]
    """Version of its distributions by canonical name."""

    @property
    def compiles_here(self) -> bool:
        """Whether it can load byte code made by this process's Python."""
        return self.magic == importlib.util.MAGIC_NUMBER.hex()

    def facts(self) -> list[Any]:
        """Return everything that pip's answer depends on except the index, as JSON types."""
        named = sorted(self.distributions.items())
        return [self.version, self.abi, self.platforms, self.machine, self.magic, named]

    def options(self) -> list[str]:
        """Return pip's options for it."""
        platforms = [word for name in self.platforms for word in ("--platform", name)]
        version = ".".join(map(str, self.version))
        options = ["--python-version", version, "--implementation", "cp", "--abi", self.abi]
        return [*options, *platforms]

    def constraints(self) -> dict[str, str]:
        """Return the requirements that keep its distributions at their versions, by name."""
        # A version with a local part is known to no index; any such satisfies the public one.
        return {
            name: f"{name}=={Version(version).public}"
            for name, version in self.distributions.items()
        }

    def markers(self) -> dict[str, str]:
        """Return the values of environment markers."""
        full = ".".join(map(str, self.version))
        return {
            "implementation_name": "cpython",
            "implementation_version": full,
            "os_name": "posix",
            "platform_machine": self.machine,
            "platform_python_implementation": "CPython",
            "platform_release": "",
            "platform_system": "Linux",
            "platform_version": "",
            "python_full_version": full,
            "python_version": ".".join(map(str, self.version[:2])),
            "sys_platform": "linux",
        }


def read_target(text: str) -> TargetPython:
    """Parse the output of `PROBE`.

    Raises:
        ValueError: Libraries cannot be installed for it; the message has the reason.
    """
    # trust: printed inside; every value is taken only in its own form.
    try:
        found = json.loads(text)
        version = tuple(found["version"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError("its Python did not say what it is") from None
    if len(version) != 3 or not all(type(part) is int and 0 <= part < 1000 for part in version):
        raise ValueError("its Python has a version that is none")
    if version < _OLDEST:
        words = ".".join(map(str, version))
        raise ValueError(f"its Python is {words}, and 3.9 is the oldest that this works for")
    if found.get("implementation") != "cpython":
        raise ValueError("its Python is not CPython")
    texts = {key: found.get(key) for key in ("executable", "soabi", "magic", "machine", "libc")}
    if not all(isinstance(value, str) for value in texts.values()):
        raise ValueError("its Python did not say what it is")
    abi = _SOABI.fullmatch(texts["soabi"])
    machine = _machine(texts["machine"], found.get("bits"))
    if abi is None or not _MACHINE.fullmatch(machine) or not _MAGIC.fullmatch(texts["magic"]):
        raise ValueError("its Python is of a kind that is not known")
    executable = texts["executable"]
    return TargetPython(
        version=version,
        executable=executable if _PATH.fullmatch(executable) else "/usr/bin/python3",
        abi=f"cp{version[0]}{version[1]}{abi['flags']}",
        platforms=tuple(_platforms(texts["libc"], machine)),
        machine=texts["machine"] if _MACHINE.fullmatch(texts["machine"]) else machine,
        magic=texts["magic"],
        distributions=_distributions(found.get("distributions")),
    )


def _machine(machine: str, bits: object) -> str:
    """Return the machine type in wheels' names: a 32-bit Python may run on a 64-bit machine."""
    if bits == 32:
        return {"x86_64": "i686", "aarch64": "armv7l"}.get(machine, machine)
    return machine


def _platforms(libc: str, machine: str) -> list[str]:
    found = re.fullmatch(r"(glibc|musl) (\d{1,2})\.(\d{1,3})(?:\..*)?", libc, re.ASCII)
    if found is None:
        raise ValueError("its C library is neither glibc nor musl")
    kind, major, minor = found[1], int(found[2]), int(found[3])
    if kind == "musl":
        names = [f"musllinux_{major}_{older}" for older in range(minor, -1, -1)]
    else:
        names = [f"manylinux_{major}_{older}" for older in range(minor, _OLDEST_GLIBC - 1, -1)]
        names.append("manylinux2014")
    return [f"{name}_{machine}" for name in [*names, "linux"]]


def _distributions(entries: object) -> dict[str, str]:
    if not isinstance(entries, list) or len(entries) > _MOST_DISTRIBUTIONS:
        raise ValueError("its Python did not say what it has")
    found: dict[str, str] = {}
    for entry in entries:
        if isinstance(entry, list) and len(entry) == 2:
            # pip could not be asked to keep what has an invalid name or version.
            with contextlib.suppress(ValueError):
                found.setdefault(read_name(entry[0]), str(read_version(entry[1])))
    return found
