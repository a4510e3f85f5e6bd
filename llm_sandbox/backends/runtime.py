"""Runtime of the supervisor in a container: the guest's code, and a Python interpreter for it.

The interpreter is a copy of this machine's own, with its shared libraries and its loader, so that
it starts in any Linux image of the same architecture: one with another C library, without Python,
or without any file.
"""

import contextlib
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path

from llm_sandbox.backends.python_environment import GUEST_ROOT, PACKAGE, compile_guest, shims
from llm_sandbox.const import VERSION
from llm_sandbox.settings import get_settings

__all__ = ["COMPLETE", "Runtime", "describe_runtime", "pack"]

COMPLETE = "complete"
"""Name of the file that marks all others as complete."""

# Imports the modules of the supervisor, and prints the files that they need.
_PROBE = """
import sys, json
sys.path.insert(0, {folder!r})
import bisect, contextlib, copy, ctypes, random, shutil, subprocess, tarfile, tempfile, zlib
import encodings.ascii, encodings.idna, encodings.latin_1
from guest import bulk, changes, container, files, mux, pod, reachability, supervisor, wrapper
files = [getattr(m, "__file__", None) or "" for m in sys.modules.values()]
with open("/proc/self/maps") as maps:
    mapped = [line.split()[-1] for line in maps if len(line.split()) > 5]
print(json.dumps([files, mapped]))
"""
_LIBRARY = re.compile(r".*\.so(\.[\d.]+)?")
_LOADER = re.compile(r"ld-(linux|musl)[\w.-]*\.so[\d.]*")


@dataclass(frozen=True)
class Runtime:
    """Files by their path below `GUEST_ROOT`, and the command line of their interpreter."""

    files: Mapping[str, str]
    """Path inside to path on this machine."""
    command: tuple[str, ...]
    """Starts an isolated interpreter without site packages; further arguments follow."""
    digest: str
    """Twelve hexadecimal digits of the digest of the files."""

    def command_below(self, root: str) -> tuple[str, ...]:
        """Return the command line for files below another root."""
        return tuple(word.replace(GUEST_ROOT, root) for word in self.command)


@cache
def describe_runtime(architecture: str) -> Runtime:
    """Return the runtime; the list of its files is cached on disk while nothing changes.

    Args:
        architecture: Architecture of the engine, as `os.uname` names it. If it is not that of this
            machine, the image's own ``python3`` is used.
    """
    compile_guest()
    guest = _guest_files()
    own = sys.platform == "linux" and architecture == os.uname().machine
    base = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
    watched = [path for path in guest.values() if not path.endswith(".pyc")] + [base, os.__file__]
    facts = [VERSION, sys.version, architecture, own, _PROBE, *map(_stamp, watched)]
    key = hashlib.sha256(json.dumps(facts).encode()).hexdigest()
    record = get_settings().cache_dir / "runtimes" / f"{key}.json"
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        known = json.loads(record.read_bytes())
        if all(os.path.exists(path) for path in known["files"].values()):
            return Runtime(known["files"], tuple(known["command"]), str(known["digest"]))
    files, command = _with_interpreter(guest, base) if own else (guest, ("python3", "-I", "-S"))
    runtime = Runtime(dict(sorted(files.items())), command, _digest(files))
    with contextlib.suppress(OSError):
        record.parent.mkdir(parents=True, exist_ok=True)
        draft = record.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps(asdict(runtime)))
        draft.replace(record)
    return runtime


def _stamp(path: str) -> tuple[str, int, int]:
    found = os.stat(path)
    return path, found.st_size, found.st_mtime_ns


def _digest(files: Mapping[str, str]) -> str:
    content = hashlib.sha256()
    for inside, path in sorted(files.items()):
        # Byte code holds the time of its source, and nothing else that the source does not.
        if not inside.endswith(".pyc"):
            content.update(f"{inside}\0".encode())
            content.update(Path(path).read_bytes())
    return content.hexdigest()[:12]


def _with_interpreter(
    guest: Mapping[str, str], base: str
) -> tuple[dict[str, str], tuple[str, ...]]:
    probe = subprocess.run(
        [base, "-I", "-S", "-c", _PROBE.format(folder=str(PACKAGE))],
        capture_output=True,
        check=True,
    )
    modules, mapped = json.loads(probe.stdout)
    standard = os.path.dirname(os.__file__)
    library = f"runtime/lib/python{sys.version_info.major}.{sys.version_info.minor}"
    # An interpreter finds its standard library by `os.py`.
    files = {**guest, "runtime/bin/python3": base, f"{library}/os.py": f"{standard}/os.py"}
    loader = ""
    for path in sorted({*modules, *mapped}):
        name = os.path.basename(path)
        if path.startswith(f"{standard}/"):
            inside = f"{library}/{os.path.relpath(path, standard)}"
            files[inside] = path
            compiled = cache_from_source(path) if path.endswith(".py") else ""
            if os.path.isfile(compiled):
                files[cache_from_source(inside)] = compiled
        elif _LOADER.fullmatch(name):
            loader = f"runtime/{name}"
            files[loader] = path
        elif _LIBRARY.fullmatch(name):
            files[f"runtime/lib/{_soname(path)}"] = path
    own = f"{GUEST_ROOT}/runtime"
    start = (f"{GUEST_ROOT}/{loader}", "--library-path", f"{own}/lib", f"{own}/bin/python3")
    return files, (*start, "-I", "-S")


def _guest_files() -> dict[str, str]:
    shim = PACKAGE / "language_handlers" / "python" / "shim"
    files = {
        f"{name}/{path.relative_to(folder).as_posix()}": str(path)
        for name, folder in (("guest", PACKAGE / "guest"), ("shim", shim))
        for path in folder.rglob("*")
        if path.suffix == ".py" or path.name.endswith(f"{sys.implementation.cache_tag}.pyc")
    }
    for language, folder in shims().items():
        for path in folder.rglob("*"):
            if path.is_file():
                files[f"languages/{language}/{path.relative_to(folder).as_posix()}"] = str(path)
    return files


def _soname(path: str) -> str:
    """Return the name that programs link to, which is the shortest link to a library's file."""
    name = os.path.basename(path)
    folder = os.path.dirname(path)
    links = [
        entry.name
        for entry in os.scandir(folder)
        if entry.is_symlink()
        and entry.name.startswith(name.partition(".so")[0] + ".so.")
        and os.path.realpath(entry.path) == os.path.realpath(path)
    ]
    return min(links, key=len) if links else name


def pack(runtime: Runtime, folder: str = "") -> bytes:
    """Return the files as a tar archive, world-readable and owned by root, `COMPLETE` last.

    Args:
        runtime: The runtime.
        folder: Prefix of their paths, with a slash at its end.
    """
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for inside, path in runtime.files.items():
            with open(path, "rb") as file:
                found = os.fstat(file.fileno())
                entry = tarfile.TarInfo(f"{folder}{inside}")
                entry.size = found.st_size
                entry.mode = 0o755 if found.st_mode & 0o100 else 0o644
                # Byte code is valid only beside a source with the same time.
                entry.mtime = int(found.st_mtime)
                archive.addfile(entry, file)
        archive.addfile(tarfile.TarInfo(f"{folder}{COMPLETE}"))
    return packed.getvalue()
