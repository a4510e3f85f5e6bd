"""How layers of languages beside Python are built: by the language's package manager, apart from
all sessions.
"""

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from llm_sandbox.backends.base import Backend, Machine, MachineSpec
from llm_sandbox.backends.layers import LayerLocation
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import SandboxError
from llm_sandbox.language_handlers.package_settings import Carrier
from llm_sandbox.language_handlers.packages import Packages
from llm_sandbox.limits import Deadline
from llm_sandbox.packages.build_environments import (
    BUILD_LIMITS,
    HostPlace,
    Job,
    MachinePlace,
    SharedPlace,
)
from llm_sandbox.packages.links import replace_links
from llm_sandbox.packages.pip import Progress
from llm_sandbox.sandbox.sandbox import Sandbox

__all__ = ["LanguageBuilder"]

_BUILD_ROOT = "/build"
_HOST_FILES = "/host"


class LanguageBuilder:
    """See `Builder`.

    Libraries are fetched in a throw-away machine that has a network; code of theirs that has to run
    for their installation runs in another one, which has none. For machines that are made from an
    image both are made from it, too, unless the result is the same for all.

    Args:
        packages: The package manager.
        backend: The session's.
        place: Where its machine finds layers.
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

    def _install(self, work: SharedPlace | HostPlace | MachinePlace) -> None:
        self._packages.install(work, work.job.specs)

    def _build_here(self, job: Job) -> None:
        backend = self._building_backend()
        if backend is not None and backend.isolates:
            carrier = self._carrier(_BUILD_ROOT, _HOST_FILES)
            with backend.builder(job.staging, binds=carrier.folders) as machine:
                self._install(SharedPlace(job, machine, _BUILD_ROOT, carrier))
        else:
            self._install(HostPlace(job, self._carrier(str(job.staging), "")))

    def _build_in_image(self, job: Job) -> bool:
        """Build in a machine of the image; False if that is left to this machine."""
        assert job.fresh_machine is not None
        spec = MachineSpec(limits=BUILD_LIMITS, network="open", timeout_s=job.deadline.remaining())
        machine = job.fresh_machine(spec)
        with Sandbox.from_machine(machine) as sandbox:
            folder = sandbox.workdir
            carrier = self._carrier(folder, f"{folder}/host", for_image=True)
            place = MachinePlace(job, sandbox, machine, carrier)
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
        """What holds the package manager on this machine; None where nothing can."""
        if self._place.image is None:
            return self._backend
        if sys.platform == "linux":
            with contextlib.suppress(SandboxError):
                backend = get_backend("bubblewrap")
                backend.check()
                return backend
        return None
