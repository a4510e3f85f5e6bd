"""How libraries are installed into a folder: by pip, from wheels only, apart from all sessions.

pip is started twice. The first run decides, with the environment's own packages in view, what has
to be added; its report is checked, and the second run installs exactly those versions. The result
is compiled there, too.
"""

import contextlib
import json
import os
import re
import selectors
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from llm_sandbox.backends.base import Backend, Machine, ProcessSpec
from llm_sandbox.exceptions import (
    LibraryInstallationError,
    SandboxTimeoutError,
    UnsupportedError,
)
from llm_sandbox.limits import Deadline
from llm_sandbox.session.pip_settings import CarriedSettings, PipSettings
from llm_sandbox.terminal import strip_controls

__all__ = [
    "Builder",
    "BuildingBackend",
    "HostBuilder",
    "Progress",
    "SandboxBuilder",
    "builder_for",
    "canonical_name",
]

Progress = Callable[[str], None]

_HOST_FILES = "/pip"
_LARGEST_LAYER = 8 << 30
_LARGEST_REPORT = 16 << 20
_MOST_WHEELS = 1000
_KEPT_OUTPUT = 64 << 10
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,198}[A-Za-z0-9])?", re.ASCII)
_VERSION = re.compile(r"[0-9][A-Za-z0-9.!+_-]{0,99}", re.ASCII)
_WHEEL = re.compile(r"(?P<name>[\w.]+)-[\w.!+]+(?:-\d\w*)?-[\w.]+-[\w.]+-[\w.]+\.whl", re.ASCII)
_UNREACHABLE = re.compile(
    r"name resolution|Name or service not known|Failed to establish a new connection"
    r"|ConnectionError|ConnectTimeout|Connection refused|Network is unreachable|ProxyError"
    r"|timed out",
    re.IGNORECASE,
)
# pip's own byte code holds times of writing; this one depends on the sources only.
_COMPILE = """
import compileall, os, shutil, sys
from py_compile import PycInvalidationMode
for folder, names, _ in os.walk(sys.argv[1]):
    if '__pycache__' in names:
        names.remove('__pycache__')
        shutil.rmtree(os.path.join(folder, '__pycache__'))
compileall.compile_dir(sys.argv[1], quiet=2, force=True, stripdir=sys.argv[1],
    invalidation_mode=PycInvalidationMode.UNCHECKED_HASH)
"""


class Builder(Protocol):
    """Installs libraries into a folder."""

    def build(
        self, staging: Path, specs: Sequence[str], deadline: Deadline, progress: Progress
    ) -> None:
        """Install `specs`, and what they need that the environment lacks, into `staging`/site.

        The folder `site` may be absent afterwards: nothing was needed. Its content is hostile.

        Raises:
            LibraryInstallationError: It could not be done; the error has the package manager's
                words.
            SandboxTimeoutError: The deadline passed.
        """


class BuildingBackend(Protocol):
    """A backend that makes machines to build layers in."""

    def builder(
        self, staging: Path, *, binds: Mapping[str, str]
    ) -> AbstractContextManager[Machine]:
        """Make a throw-away machine with a network in which `staging` is writable at /build."""


def builder_for(backend: Backend) -> Builder:
    """Return what builds layers for the sandboxes of `backend`.

    Raises:
        UnsupportedError: Its sandboxes do not use layers.
    """
    if hasattr(backend, "builder"):
        return SandboxBuilder(backend)
    if backend.name == "local":
        return HostBuilder()
    raise UnsupportedError("installing libraries as layers", backend.name)


def canonical_name(name: str) -> str:
    """Return the one spelling that names of the same distribution share."""
    return re.sub(r"[-_.]+", "-", name).lower()


@dataclass(frozen=True)
class _Place:
    """Where pip runs: how the folder is called there, and how a program is started."""

    folder: str
    python: str
    env: Mapping[str, str]
    start: Callable[[Sequence[str], Mapping[str, str], float | None], "_Started"]


@dataclass(frozen=True)
class _Started:
    streams: tuple[int, int]
    stop: Callable[[], object]
    wait: Callable[[], int]


class SandboxBuilder:
    """Builds in a throw-away sandbox, which has a network and runs no code but pip's.

    Args:
        backend: Makes the sandbox.
    """

    def __init__(self, backend: BuildingBackend) -> None:
        self._backend = backend

    def build(
        self, staging: Path, specs: Sequence[str], deadline: Deadline, progress: Progress
    ) -> None:
        """See `Builder.build`."""
        settings = PipSettings.read(deadline.remaining()).carried(_HOST_FILES)
        with self._backend.builder(staging, binds=settings.binds) as machine:

            def start(
                argv: Sequence[str], env: Mapping[str, str], timeout_s: float | None
            ) -> _Started:
                raw = machine.start(ProcessSpec(tuple(argv), env, "/build", timeout_s))

                def wait() -> int:
                    ended = raw.ending.wait(30)
                    return ended.exit_code if ended is not None else 137

                return _Started((raw.stdout, raw.stderr), lambda: machine.kill(raw.id), wait)

            env = {**machine.base_env(), **_pip_variables(settings, "/build")}
            place = _Place("/build", machine.python(), env, start)
            _Installation(place, staging, specs, deadline, progress).run()


class HostBuilder:
    """Builds with plain processes of the host: for the backend `local`, which isolates nothing.

    The steps are those of `SandboxBuilder`. Only wheels are installed, so that no package's code
    runs on the way.
    """

    def build(
        self, staging: Path, specs: Sequence[str], deadline: Deadline, progress: Progress
    ) -> None:
        """See `Builder.build`."""
        settings = PipSettings.read(deadline.remaining()).carried("")
        own = {name: text for name, text in os.environ.items() if not name.startswith("PIP_")}
        env = {**own, **_pip_variables(settings, str(staging))}
        place = _Place(str(staging), sys.executable, env, _start_on_host)
        _Installation(place, staging, specs, deadline, progress).run()


def _start_on_host(
    argv: Sequence[str], env: Mapping[str, str], timeout_s: float | None
) -> _Started:
    process = subprocess.Popen(
        argv,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    streams = (os.dup(process.stdout.fileno()), os.dup(process.stderr.fileno()))
    process.stdout.close()
    process.stderr.close()

    def stop() -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    return _Started(streams, stop, process.wait)


def _pip_variables(settings: CarriedSettings, folder: str) -> dict[str, str]:
    return {
        "PIP_RETRIES": "2",  # pip's own five take nine seconds to say "no network"
        **settings.variables,
        "PIP_CONFIG_FILE": os.devnull,  # what it would say is in the variables
        "PIP_CACHE_DIR": f"{folder}/cache",  # what the first run fetched, the second does not
        "TMPDIR": folder,
        "PYTHONDONTWRITEBYTECODE": "1",
    }


class _Installation:
    """The steps, in one place."""

    def __init__(
        self,
        place: _Place,
        staging: Path,
        specs: Sequence[str],
        deadline: Deadline,
        progress: Progress,
    ) -> None:
        self._place = place
        self._staging = staging
        self._specs = specs
        self._deadline = deadline
        self._progress = progress

    def run(self) -> None:
        site = f"{self._place.folder}/site"
        self._progress(f"resolving {' '.join(self._specs)}")
        report = f"{self._place.folder}/report.json"
        self._pip("--dry-run", "--report", report, "--", *self._specs)
        pins = self._read_pins()
        if not pins:
            return
        self._progress(f"installing {' '.join(pins)}")
        self._pip("--no-deps", "--no-compile", "--target", site, "--", *pins)
        self._progress("compiling")
        # What does not compile is a template, or for another Python: its import says so.
        self._python("-c", _COMPILE, site)

    def _pip(self, *arguments: str) -> None:
        options = ("--quiet", "--no-input", "--no-color", "--disable-pip-version-check")
        code, output = self._python(
            *("-m", "pip", "install", *options, "--only-binary", ":all:", *arguments)
        )
        if code:
            raise self._failure(output, f"pip ended with exit status {code}")

    def _python(self, *arguments: str) -> tuple[int, str]:
        place, deadline = self._place, self._deadline
        self._check_deadline()
        argv = [place.python, "-P", *arguments]
        started = place.start(argv, place.env, deadline.remaining())
        try:
            output = self._drain(started)
        except BaseException:
            started.stop()
            started.wait()
            raise
        code = started.wait()
        self._check_deadline()
        return code, output

    def _check_deadline(self) -> None:
        if self._deadline.expired:
            raise SandboxTimeoutError(
                f"installing {', '.join(self._specs)} took longer than allowed", op="install"
            )

    def _drain(self, started: _Started) -> str:
        kept = bytearray()
        next_look = time.monotonic() + 1.0
        with contextlib.ExitStack() as stack:
            selector = stack.enter_context(selectors.DefaultSelector())
            for fd in started.streams:
                stack.callback(os.close, fd)
                selector.register(fd, selectors.EVENT_READ)
            while selector.get_map():
                left = self._deadline.remaining()
                for key, _ in selector.select(1.0 if left is None else min(1.0, left)):
                    data = os.read(key.fd, 1 << 16)
                    if not data:
                        selector.unregister(key.fd)
                    kept += data
                    del kept[:-_KEPT_OUTPUT]
                self._check_deadline()
                if time.monotonic() >= next_look:
                    self._check_size()
                    next_look = time.monotonic() + 1.0
        # trust: what pip prints has names and words of packages in it.
        return strip_controls(kept.decode("utf-8", "replace")).strip()

    def _check_size(self) -> None:
        if _size(self._staging) > _LARGEST_LAYER:
            raise self._failure("", f"it takes more than {_LARGEST_LAYER >> 30} GiB")

    def _read_pins(self) -> list[str]:
        """Return what the first run wants to install, as exact requirements."""
        try:
            # trust: written inside; neither followed as a link nor believed.
            fd = os.open(self._staging / "report.json", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(fd, "rb") as file:
                if not stat.S_ISREG(os.fstat(fd).st_mode):
                    raise ValueError("not a file")
                text = file.read(_LARGEST_REPORT + 1)
            if len(text) > _LARGEST_REPORT:
                raise ValueError("too long")
            entries = json.loads(text)["install"]
            if not isinstance(entries, list) or len(entries) > _MOST_WHEELS:
                raise ValueError("too many")
            return sorted(map(_read_pin, entries))
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            raise self._failure(
                "", f"pip's report is not acceptable ({strip_controls(str(error))})"
            ) from None

    def _failure(self, output: str, otherwise: str) -> LibraryInstallationError:
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR:")] or lines[-1:]
        reason = errors[-1].removeprefix("ERROR:").strip()[:500] if errors else otherwise
        hint = None
        if "No module named pip" in output:
            hint = "python -m ensurepip, in the environment that runs this program"
        elif "Permission denied" in output and os.geteuid() == 0:
            hint = "root's sandboxes read as another user: make the packages readable for all"
        elif _UNREACHABLE.search(output):
            hint = "the package index could not be reached: check the network, or pip config list"
        return LibraryInstallationError(
            f"{', '.join(self._specs)} could not be installed: {reason}",
            packages=self._specs,
            output=output,
            op="install",
            hint=hint,
        )


def _read_pin(entry: Any) -> str:
    name, version = entry["metadata"]["name"], entry["metadata"]["version"]
    if not (isinstance(name, str) and _NAME.fullmatch(name)):
        raise ValueError("it has a name that is none")
    if not (isinstance(version, str) and _VERSION.fullmatch(version)):
        raise ValueError(f"{name} has a version that is none")
    wheel = _WHEEL.fullmatch(unquote(urlsplit(entry["download_info"]["url"]).path).split("/")[-1])
    if wheel is None or canonical_name(wheel["name"]) != canonical_name(name):
        raise ValueError(f"{name} does not come from a wheel of that name")
    return f"{canonical_name(name)}=={version}"


def _size(folder: Path) -> int:
    return sum(_file_sizes(folder))


def _file_sizes(folder: Path) -> Iterator[int]:
    with contextlib.suppress(OSError):  # files come and go
        for _, _, names, fd in os.fwalk(folder):
            for name in names:
                with contextlib.suppress(OSError):
                    yield os.stat(name, dir_fd=fd, follow_symlinks=False).st_blocks * 512
