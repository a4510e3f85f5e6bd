"""Builders of layers: libraries installed into a folder, apart from all sessions.

Python's are installed by pip, from wheels only; those of other languages by their package managers.

pip is started twice. The first run decides, with the environment's own packages in view, what has
to be added; its report is checked, and the second run installs exactly those versions. The result
is compiled there, too. For the Python of an image, pip runs here all the same: inside there is
neither a network nor any of its settings.
"""

import contextlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from llm_sandbox.backends.base import Backend, Machine, MachineSpec
from llm_sandbox.backends.layers import LayerLocation
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import SandboxError
from llm_sandbox.language_handlers.package_settings import Carrier
from llm_sandbox.language_handlers.packages import Packages
from llm_sandbox.limits import Deadline
from llm_sandbox.packages.build_environments import (
    BUILD_LIMITS,
    HostEnvironment,
    Job,
    MachineEnvironment,
    SharedEnvironment,
)
from llm_sandbox.packages.links import replace_links
from llm_sandbox.packages.pip import PipEnvironment, PipRunner, Progress, RunningProcess
from llm_sandbox.packages.pip_settings import CarriedSettings, PipSettings
from llm_sandbox.packages.processes import start_in_machine, start_on_host
from llm_sandbox.packages.target_python import TargetPython
from llm_sandbox.sandbox.sandbox import Sandbox

__all__ = [
    "Builder",
    "HostBuilder",
    "LanguageBuilder",
    "SandboxBuilder",
    "builder_for",
    "builder_for_image",
]

_PIP_HOST_FILES = "/pip"


class Builder(Protocol):
    """Installer of libraries into a folder."""

    def build(
        self, staging: Path, specs: Sequence[str], deadline: Deadline, progress: Progress
    ) -> None:
        """Install `specs` and their missing dependencies into `staging`/site.

        The folder `site` may be absent afterwards, if nothing was missing. Its content is hostile.

        Raises:
            LibraryInstallationError: The installation failed; the error has the package manager's
                output.
            SandboxTimeoutError: The deadline passed.
        """


def builder_for(backend: Backend) -> Builder:
    """Return the builder of layers for the sandboxes of `backend`."""
    return SandboxBuilder(backend) if backend.isolates else HostBuilder()


def builder_for_image(target: TargetPython) -> Builder:
    """Return the builder of layers, on this computer, for the Python of an image.

    pip is held by a sandbox where this machine can make one.
    """
    if sys.platform == "linux":
        with contextlib.suppress(SandboxError):
            backend = get_backend("bubblewrap")
            backend.check()
            return SandboxBuilder(backend, target)
    return HostBuilder(target)


class SandboxBuilder:
    """Builder in a throw-away sandbox, which has a network and runs no code but pip's.

    Args:
        backend: Backend of the sandbox.
        target: The Python that the libraries are for; None for this process's own.
    """

    def __init__(self, backend: Backend, target: TargetPython | None = None) -> None:
        self._backend = backend
        self._target = target

    def build(
        self, staging: Path, specs: Sequence[str], deadline: Deadline, progress: Progress
    ) -> None:
        """See `Builder.build`."""
        settings = PipSettings.read(deadline.remaining()).carried(_PIP_HOST_FILES)
        with self._backend.builder(staging, binds=settings.binds) as machine:

            def start(
                argv: Sequence[str], env: Mapping[str, str], timeout_s: float | None
            ) -> RunningProcess:
                return start_in_machine(machine, argv, env, "/build", timeout_s)

            env = {**machine.base_env(), **_pip_variables(settings, "/build")}
            place = PipEnvironment("/build", machine.python(), env, start)
            PipRunner(place, staging, specs, deadline, progress, self._target).run()


class HostBuilder:
    """Builder of plain processes of the host: for the backend `local`, which isolates nothing, and
    for images where this computer cannot create a sandbox.

    The steps are those of `SandboxBuilder`. Only wheels are installed, so that no code of packages
    runs.

    Args:
        target: The Python that the libraries are for; None for this process's own.
    """

    def __init__(self, target: TargetPython | None = None) -> None:
        self._target = target

    def build(
        self, staging: Path, specs: Sequence[str], deadline: Deadline, progress: Progress
    ) -> None:
        """See `Builder.build`."""
        settings = PipSettings.read(deadline.remaining()).carried("")
        own = {name: text for name, text in os.environ.items() if not name.startswith("PIP_")}
        env = {**own, **_pip_variables(settings, str(staging))}

        def start(
            argv: Sequence[str], env: Mapping[str, str], timeout_s: float | None
        ) -> RunningProcess:
            del timeout_s  # the runner kills it
            return start_on_host(argv, env)

        place = PipEnvironment(str(staging), sys.executable, env, start)
        PipRunner(place, staging, specs, deadline, progress, self._target).run()


def _pip_variables(settings: CarriedSettings, folder: str) -> dict[str, str]:
    return {
        "PIP_RETRIES": "2",  # pip's own five take nine seconds to say "no network"
        **settings.variables,
        "PIP_CONFIG_FILE": os.devnull,  # what it would say is in the variables
        "PIP_CACHE_DIR": f"{folder}/cache",  # what the first run fetched, the second does not
        "TMPDIR": folder,
        "PYTHONDONTWRITEBYTECODE": "1",
    }


_BUILD_ROOT = "/build"
_HOST_FILES = "/host"


class LanguageBuilder:
    """Builder of other languages' libraries; see `Builder`.

    Libraries are fetched in a throw-away machine that has a network; code of theirs that has to run
    for their installation runs in another one, which has none. For machines that are made from an
    image both are made from it, too, unless the result is the same for all.

    Args:
        packages: The package manager.
        backend: Backend of the session.
        place: Folder of the layers in its machines.
    """

    def __init__(self, packages: Packages, backend: Backend, place: LayerLocation) -> None:
        self._packages = packages
        self._backend = backend
        self._place = place

    def build(
        self, staging: Path, specs: Sequence[str], deadline: Deadline, progress: Progress
    ) -> None:
        """See `Builder.build`."""
        job = Job(self._packages, specs, staging, deadline, progress, self._fresh_machine())
        if self._place.image is None or self._packages.is_portable or not self._build_in_image(job):
            self._build_here(job)
        for path in replace_links(staging / "site")[:1]:
            progress(f"left out {path}, which leads nowhere")

    def _install(self, work: SharedEnvironment | HostEnvironment | MachineEnvironment) -> None:
        self._packages.install(work, work.job.specs)

    def _build_here(self, job: Job) -> None:
        backend = self._building_backend()
        if backend is not None and backend.isolates:
            carrier = self._carrier(_BUILD_ROOT, _HOST_FILES)
            with backend.builder(job.staging, binds=carrier.folders) as machine:
                self._install(SharedEnvironment(job, machine, _BUILD_ROOT, carrier))
        else:
            self._install(HostEnvironment(job, self._carrier(str(job.staging), "")))

    def _build_in_image(self, job: Job) -> bool:
        """Build in a machine of the image; return False to build on this computer."""
        assert job.fresh_machine is not None
        spec = MachineSpec(limits=BUILD_LIMITS, network="open", timeout_s=job.deadline.remaining())
        machine = job.fresh_machine(spec)
        with Sandbox.from_machine(machine) as sandbox:
            folder = sandbox.workdir
            carrier = self._carrier(folder, f"{folder}/host", for_image=True)
            place = MachineEnvironment(job, sandbox, machine, carrier)
            if self._packages.serves_images and not all(map(place.has, self._packages.needs)):
                return False
            self._install(place)
            place.collect()
        return True

    def _carrier(self, folder: str, root: str, *, for_image: bool = False) -> Carrier:
        carrier = Carrier(
            dict(os.environ),
            Path.home(),
            folder=f"{folder}/settings",
            root=root,
            for_image=for_image,
        )
        self._packages.settings(carrier)
        return carrier

    def _fresh_machine(self) -> Callable[[MachineSpec], Machine] | None:
        if self._place.image is not None:
            return self._place.image.fresh_machine
        return self._backend.create if self._backend.isolates else None

    def _building_backend(self) -> Backend | None:
        """Return the backend for package managers on this computer; None where none works."""
        if self._place.image is None:
            return self._backend
        if sys.platform == "linux":
            with contextlib.suppress(SandboxError):
                backend = get_backend("bubblewrap")
                backend.check()
                return backend
        return None
