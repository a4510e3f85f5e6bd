"""How libraries are installed into a folder: by pip, from wheels only, apart from all sessions.

pip is started twice. The first run decides, with the environment's own packages in view, what has
to be added; its report is checked, and the second run installs exactly those versions. The result
is compiled there, too. For the Python of an image, pip runs here all the same: inside there is
neither a network nor any of its settings.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from llm_sandbox.backends.base import Backend, ProcessSpec
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import SandboxError
from llm_sandbox.limits import Deadline
from llm_sandbox.packages.pip import Installation, Place, Progress, Started
from llm_sandbox.packages.pip_settings import CarriedSettings, PipSettings
from llm_sandbox.packages.target_python import TargetPython

__all__ = [
    "Builder",
    "HostBuilder",
    "SandboxBuilder",
    "builder_for",
    "builder_for_image",
]

_HOST_FILES = "/pip"


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


def builder_for(backend: Backend) -> Builder:
    """Return what builds layers for the sandboxes of `backend`."""
    return SandboxBuilder(backend) if backend.isolates else HostBuilder()


def builder_for_image(target: TargetPython) -> Builder:
    """Return what builds layers on this machine for the Python of an image.

    pip is held by a sandbox where this machine can make one.
    """
    if sys.platform == "linux":
        with contextlib.suppress(SandboxError):
            backend = get_backend("bubblewrap")
            backend.check()
            return SandboxBuilder(backend, target)
    return HostBuilder(target)


class SandboxBuilder:
    """Builds in a throw-away sandbox, which has a network and runs no code but pip's.

    Args:
        backend: Makes the sandbox.
        target: The Python that the libraries are for; None for this process's own.
    """

    def __init__(self, backend: Backend, target: TargetPython | None = None) -> None:
        self._backend = backend
        self._target = target

    def build(
        self, staging: Path, specs: Sequence[str], deadline: Deadline, progress: Progress
    ) -> None:
        """See `Builder.build`."""
        settings = PipSettings.read(deadline.remaining()).carried(_HOST_FILES)
        with self._backend.builder(staging, binds=settings.binds) as machine:

            def start(
                argv: Sequence[str], env: Mapping[str, str], timeout_s: float | None
            ) -> Started:
                raw = machine.start(ProcessSpec(tuple(argv), env, "/build", timeout_s))

                def wait() -> int:
                    ended = raw.ending.wait(30)
                    return ended.exit_code if ended is not None else 137

                return Started((raw.stdout, raw.stderr), lambda: machine.kill(raw.id), wait)

            env = {**machine.base_env(), **_pip_variables(settings, "/build")}
            place = Place("/build", machine.python(), env, start)
            Installation(place, staging, specs, deadline, progress, self._target).run()


class HostBuilder:
    """Builds with plain processes of the host: for the backend `local`, which isolates nothing, and
    for images where this machine can make no sandbox.

    The steps are those of `SandboxBuilder`. Only wheels are installed, so that no package's code
    runs on the way.

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
        place = Place(str(staging), sys.executable, env, _start_on_host)
        Installation(place, staging, specs, deadline, progress, self._target).run()


def _start_on_host(argv: Sequence[str], env: Mapping[str, str], timeout_s: float | None) -> Started:
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

    return Started(streams, stop, process.wait)


def _pip_variables(settings: CarriedSettings, folder: str) -> dict[str, str]:
    return {
        "PIP_RETRIES": "2",  # pip's own five take nine seconds to say "no network"
        **settings.variables,
        "PIP_CONFIG_FILE": os.devnull,  # what it would say is in the variables
        "PIP_CACHE_DIR": f"{folder}/cache",  # what the first run fetched, the second does not
        "TMPDIR": folder,
        "PYTHONDONTWRITEBYTECODE": "1",
    }
