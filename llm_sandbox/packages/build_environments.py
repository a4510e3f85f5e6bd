"""Build environments of package managers: a sandbox that shares a folder with the host, a machine
from which files are fetched, or plain processes of the host.
"""

import contextlib
import os
import shutil
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from llm_sandbox.backends.base import Machine, MachineSpec
from llm_sandbox.exceptions import LaunchError, LibraryInstallationError
from llm_sandbox.language_handlers.package_settings import Carrier
from llm_sandbox.language_handlers.packages import Packages
from llm_sandbox.limits import Deadline, Limits
from llm_sandbox.packages.links import replace_links
from llm_sandbox.packages.pip import Progress
from llm_sandbox.packages.processes import (
    LARGEST_LAYER,
    ProcessRunner,
    RunningProcess,
    start_in_machine,
    start_on_host,
)
from llm_sandbox.packages.unpacking import Unpacker
from llm_sandbox.sandbox.sandbox import Sandbox

__all__ = ["BUILD_LIMITS", "HostEnvironment", "Job", "MachineEnvironment", "SharedEnvironment"]

BUILD_LIMITS = Limits(
    memory_bytes=2 << 30, workdir_bytes=4 << 30, file_size_bytes=4 << 30, inodes=1 << 20
)
"""Limits of a machine in which libraries are built."""

_PRIVATE = "settings"


@dataclass(frozen=True)
class Job:
    """One installation.

    Attributes:
        packages: The package manager.
        specs: Requirements.
        staging: Folder of the host whose `site` becomes the layer.
        deadline: Deadline of the installation.
        progress: Callback with a description of each step.
        fresh_machine: Creates a machine like the session's in which nothing has run; None where no
            such machine isolates.
    """

    packages: Packages
    specs: Sequence[str]
    staging: Path
    deadline: Deadline
    progress: Progress
    fresh_machine: Callable[[MachineSpec], Machine] | None

    def error(self, reason: str, hint: str | None = None, output: str = "") -> Exception:
        """Return the error of the failed installation."""
        return LibraryInstallationError(
            f"{', '.join(self.specs)} could not be installed: {reason}",
            packages=self.specs,
            output=output,
            op="install",
            hint=hint,
        )


class _Environment(ABC):
    """Base of the environments; see `Workplace`."""

    folder: str
    python: str

    def __init__(self, job: Job, env: Mapping[str, str]) -> None:
        self.job = job
        self._own_env = env
        self._tools = ProcessRunner(job.staging, job.specs, job.deadline)
        self._has: dict[str, bool] = {}

    @abstractmethod
    def _start(
        self, argv: tuple[str, ...], env: Mapping[str, str], cwd: str, left: float | None
    ) -> RunningProcess:
        """Start a program.

        Raises:
            LaunchError: The program does not exist.
        """

    @abstractmethod
    def write(self, name: str, text: str | bytes) -> str: ...

    def run(
        self,
        *argv: str,
        says: str = "",
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> str:
        code, output = self.attempt(*argv, says=says, env=env, cwd=cwd)
        if code:
            raise self.failure(output, f"{argv[0]} ended with exit status {code}")
        return output

    def attempt(
        self,
        *argv: str,
        says: str = "",
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> tuple[int, str]:
        if says:
            self.job.progress(says)
        variables = {**self._variables(), **(env or {})}
        where = cwd or self.folder
        try:
            return self._tools.run(lambda left: self._start(argv, variables, where, left))
        except LaunchError as error:
            needs = self.job.packages.needs.get(argv[0])
            hint = f"it comes with Debian's package {needs}" if needs else None
            raise self.job.error(f"{argv[0]} is not there", hint, str(error)) from None

    def _variables(self) -> dict[str, str]:
        return {
            **self._own_env,
            "HOME": f"{self.folder}/home",
            "TMPDIR": f"{self.folder}/tmp",  # noqa: S108 - a folder of its own
            "XDG_CACHE_HOME": f"{self.folder}/cache",
            "XDG_CONFIG_HOME": f"{self.folder}/home/.config",
            "LC_ALL": "C.UTF-8",
            "DEBIAN_FRONTEND": "noninteractive",
        }

    def has(self, program: str) -> bool:
        if program not in self._has:
            try:
                self._tools.run(
                    lambda left: self._start(
                        (program, "--version"), self._variables(), self.folder, left
                    )
                )
                self._has[program] = True
            except LaunchError:
                self._has[program] = False
        return self._has[program]

    def place(self, name: str, text: str) -> None:
        site = self.job.staging / "site"
        site.mkdir(exist_ok=True)
        _write_new(site / name, text.encode())

    def unpack(self, name: str) -> dict[str, list[str]]:
        packages = sorted((self.job.staging / name).glob("*.deb"))
        if packages:
            self.job.progress(f"unpacking {len(packages)} packages")
        unpacker = Unpacker(self.job.staging / "site")
        found: dict[str, list[str]] = {}
        for path in packages:
            found[path.name.partition("_")[0]] = unpacker.unpack_package(path)
        return found

    @contextlib.contextmanager
    def apart(self, *names: str) -> "Iterator[_Environment]":
        job = self.job
        if job.fresh_machine is None:
            yield self
            return
        replace_links(job.staging / "site")
        left = job.deadline.remaining()
        machine = job.fresh_machine(MachineSpec(limits=BUILD_LIMITS, timeout_s=left))
        with Sandbox.from_machine(machine) as sandbox:
            place = MachineEnvironment(job, sandbox, machine, {})
            for name in names:
                if (job.staging / name).is_dir():
                    sandbox.files.upload(job.staging / name, f"{place.folder}/{name}")
            yield place
            place.collect()

    def failure(self, output: str, otherwise: str) -> Exception:
        packages = self.job.packages
        return self.job.error(packages.reason(output) or otherwise, packages.hint(output), output)


class SharedEnvironment(_Environment):
    """Build environment in a sandbox that mounts the staging folder.

    Args:
        job: The installation.
        machine: Machine of the sandbox; nothing has run in it.
        folder: Path of the staging folder inside.
        carrier: Settings of the host.
    """

    def __init__(self, job: Job, machine: Machine, folder: str, carrier: Carrier) -> None:
        super().__init__(job, {**machine.base_env(), **carrier.variables})
        self.folder = folder
        self.python = machine.python()
        self._machine = machine
        _furnish(job.staging, carrier)

    def _start(
        self, argv: tuple[str, ...], env: Mapping[str, str], cwd: str, left: float | None
    ) -> RunningProcess:
        return start_in_machine(self._machine, argv, env, cwd, left)

    def write(self, name: str, text: str | bytes) -> str:
        """See `Workplace.write`."""
        _write_new(self.job.staging / name, _data(text), like=self.job.staging)
        return f"{self.folder}/{name}"


class HostEnvironment(_Environment):
    """Build environment of plain processes: for the backend `local`, which isolates nothing.

    Args:
        job: The installation.
        carrier: Settings of the host.
    """

    def __init__(self, job: Job, carrier: Carrier) -> None:
        kept = ("PATH", "LANG", "USER")
        own = {name: os.environ[name] for name in kept if name in os.environ}
        super().__init__(job, {**own, **carrier.variables})
        self.folder = str(job.staging)
        self.python = sys.executable
        _furnish(job.staging, carrier)

    def _start(
        self, argv: tuple[str, ...], env: Mapping[str, str], cwd: str, left: float | None
    ) -> RunningProcess:
        del left  # it is stopped when the time is up
        return start_on_host(argv, env, cwd)

    def write(self, name: str, text: str | bytes) -> str:
        """See `Workplace.write`."""
        _write_new(self.job.staging / name, _data(text))
        return f"{self.folder}/{name}"


class MachineEnvironment(_Environment):
    """Build environment in a machine that shares nothing with the host: files are sent and fetched.

    Args:
        job: The installation.
        sandbox: The machine; nothing has run in it.
        machine: The same.
        carrier: Settings of the host; none where code of packages runs.
    """

    def __init__(
        self, job: Job, sandbox: Sandbox, machine: Machine, carrier: "Carrier | Mapping[str, str]"
    ) -> None:
        settings = carrier if isinstance(carrier, Carrier) else None
        super().__init__(
            job, {**machine.base_env(), **(settings.variables if settings is not None else {})}
        )
        self.folder = sandbox.workdir
        self.python = machine.python()
        self._sandbox = sandbox
        self._machine = machine
        files = sandbox.files
        for name in ("home", "tmp", "cache"):
            files.mkdir(f"{self.folder}/{name}")
        if settings is not None:
            for name, data in settings.files.items():
                files.write_bytes(f"{self.folder}/{_PRIVATE}/{name}", data)
            for inside, host in settings.folders.items():
                files.mkdir(str(PurePosixPath(inside).parent))
                files.upload(host, inside)

    def _start(
        self, argv: tuple[str, ...], env: Mapping[str, str], cwd: str, left: float | None
    ) -> RunningProcess:
        return start_in_machine(self._machine, argv, env, cwd, left)

    def write(self, name: str, text: str | bytes) -> str:
        """See `Workplace.write`."""
        self._sandbox.files.write_bytes(f"{self.folder}/{name}", _data(text))
        return f"{self.folder}/{name}"

    def unpack(self, name: str) -> dict[str, list[str]]:
        """See `Workplace.unpack`."""
        self._fetch(name)
        return super().unpack(name)

    @contextlib.contextmanager
    def apart(self, *names: str) -> Iterator[_Environment]:
        """See `Workplace.apart`."""
        for name in names:
            if name != "site":
                self._fetch(name)
        with super().apart(*names) as place:
            yield place

    def _fetch(self, name: str) -> None:
        files = self._sandbox.files
        if files.exists(f"{self.folder}/{name}"):
            target = self.job.staging / name
            files.download(f"{self.folder}/{name}", target, limit=LARGEST_LAYER)

    def collect(self) -> None:
        """Download `site` to the host, links included, if it exists."""
        if not self._sandbox.files.exists(f"{self.folder}/site"):
            return
        archive = f"{self.folder}/site.tar"
        self.run("tar", "-cf", archive, "-C", f"{self.folder}/site", ".")
        here = self.job.staging / "site.tar"
        self._sandbox.files.download(archive, here, limit=LARGEST_LAYER)
        site = self.job.staging / "site"
        shutil.rmtree(site, ignore_errors=True)  # what came from there is in the archive
        Unpacker(site).unpack_tar(here)
        here.unlink()


def _furnish(staging: Path, carrier: Carrier) -> None:
    """Create the folders that programs expect, for the user of the staging folder."""
    owner = staging.stat()
    for name in ("home", "tmp", "cache", _PRIVATE):
        (staging / name).mkdir(mode=0o700)
        if os.geteuid() == 0:
            os.chown(staging / name, owner.st_uid, owner.st_gid)
    for name, data in carrier.files.items():
        _write_new(staging / _PRIVATE / name, data, like=staging)


def _data(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def _write_new(path: Path, data: bytes, like: Path | None = None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        file.write(data)
        if like is not None and os.geteuid() == 0:
            owner = like.stat()
            os.fchown(file.fileno(), owner.st_uid, owner.st_gid)
