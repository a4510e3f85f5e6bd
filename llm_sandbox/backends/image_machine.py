"""Machine of an image, in which the supervisor brings its own interpreter."""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from llm_sandbox.backends.base import (
    Exit,
    Isolation,
    KernelSpec,
    LimitEvents,
    MachineSpec,
    ProcessSpec,
    RawKernel,
    RawProcess,
)
from llm_sandbox.backends.connection import SupervisorConnection
from llm_sandbox.backends.python_environment import FORKABLE, GUEST_ROOT
from llm_sandbox.backends.runtime import COMPLETE
from llm_sandbox.backends.supervised import GuestPaths, SupervisedMachine, guest_command
from llm_sandbox.backends.watchdog import start_watchdog
from llm_sandbox.exceptions import (
    BackendError,
    ContainerGoneError,
    KernelNotReadyError,
    SandboxError,
)
from llm_sandbox.host.guest_numbers import GuestSignal
from llm_sandbox.settings import get_settings

__all__ = ["ImageMachine", "guest_environment", "supervisor_command"]

_KERNEL_HINT = "sessions that keep variables need Python 3.11 or newer with ipykernel in the image"
_PATIENCE_S = "1"
_LOAD_S = 60.0
_EVENTS_S = 1.5
_TIMED_OUT = 124
_TMP = "/tmp"  # noqa: S108 - inside


def _own_variables(home: str, caches: str) -> dict[str, str]:
    return {
        "HOME": home,
        "USER": "sandbox",
        # Kept out of the working directory, whose files are the user's.
        "XDG_CACHE_HOME": f"{caches}/.cache",
        "XDG_CONFIG_HOME": f"{caches}/.config",
        "MPLCONFIGDIR": f"{caches}/.matplotlib",
        "IPYTHONDIR": f"{caches}/.ipython",
    }


def guest_environment(
    image: Mapping[str, str], home: str, library_path: str | None = None
) -> dict[str, str]:
    """Return the environment of every program, before the variables of the caller.

    Args:
        image: Environment of the image.
        home: Folder for HOME.
        library_path: Folder with saved libraries; None without any.
    """
    return {
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        **{name: value for name, value in image.items() if name not in ("HOSTNAME", "_")},
        **_own_variables(home, _TMP),
        **({} if library_path is None else {"PYTHONPATH": library_path}),
    }


def _zygote_variables(home: str) -> dict[str, str]:
    """Return the variables of the zygote beyond the image's environment.

    Its caches are its own, as programs could not write to files of another user.
    """
    own = _own_variables(home, f"{_TMP}/.zygote")
    return {"LANG": "C.UTF-8", **own, **FORKABLE}


def _zygote_arguments(root: str, *, ahead: bool, packages: str | None = None) -> list[str]:
    """Return the arguments with which a Python becomes the zygote, the process that kernels are
    forked from.

    Args:
        root: Folder of the guest's code.
        ahead: Whether it is started ahead of need. Otherwise it serves one session, and does not
            preload modules that the session may never use.
        packages: As in `KernelSpec`.
    """
    paths = GuestPaths("", root)
    command = guest_command(paths, "zygote.main", isolated_site=False, packages=packages)
    return [*command[1:], *((get_settings().preload, "0") if ahead else ("lean", _PATIENCE_S))]


def supervisor_command(
    start: tuple[str, ...],
    *,
    spec: MachineSpec,
    root: str = GUEST_ROOT,
    folders: Sequence[str] | None = None,
    pod: Mapping[str, Any] | None = None,
) -> list[str]:
    """Return the command line of the supervisor.

    Args:
        start: Command line of an interpreter; see `Runtime.command`.
        spec: The machine; for a kernel the zygote is started at once.
        root: Folder of the guest's code.
        folders: Folders that the supervisor removes at its end, where it is not process 1.
        pod: How the supervisor of a pod is reached; see `guest.pod.start`.
    """
    plan = {
        "env": _zygote_variables(spec.workdir),
        "zygote": _zygote_arguments(root, ahead=spec.ahead) if spec.for_kernel else None,
        "folders": folders,
        "pod": pod,
    }
    code = (
        f"import sys; sys.path.insert(0, {root!r}); open('{root}/{COMPLETE}').close(); "
        f"from guest import container; container.main({plan!r})"
    )
    return [*start, "-c", code]


class ImageMachine(SupervisedMachine):
    """See `Machine`. Its supervisor starts a zygote for its first kernel.

    Args:
        guest: Folder of the guest's code inside.
        loaded: Set when the zygote has loaded everything, or has ended.
        library_path: Folder of the image with saved libraries; None for none.
    """

    kernel_hint: ClassVar[str] = _KERNEL_HINT

    def __init__(
        self,
        connection: SupervisorConnection,
        spec: MachineSpec,
        isolation: Isolation,
        *,
        guest: str,
        machine_id: str,
        confinement: Mapping[str, Any],
        loaded: threading.Event,
        on_destroyed: Callable[[SupervisedMachine], None],
        library_path: str | None = None,
        restore: str | None = None,
    ) -> None:
        facts = connection.hello
        python = str(facts.get("python") or "")
        self._library_path = library_path
        super().__init__(
            connection,
            spec,
            isolation,
            GuestPaths(python, guest, tuple(facts["own"])),
            guest_environment(facts["environment"], spec.workdir, library_path),
            confinement=confinement,
            tmpfs=[],
            cgroup=None,
            machine_id=machine_id,
            on_destroyed=on_destroyed,
            watch_memory=False,
            restore=restore,
        )
        self._loaded = loaded
        self._zygote_started = bool(facts.get("zygote"))
        self._packages: str | None = None

    @property
    def image(self) -> str:
        """The image's name, for people."""
        raise NotImplementedError

    @property
    def library_path(self) -> str | None:
        return self._library_path

    def _start(
        self, spec: ProcessSpec, near_in: int | None, far_in: int, *, wraps: bool = False
    ) -> RawProcess:
        raw = super()._start(spec, near_in, far_in, wraps=wraps)
        if spec.timeout_s is not None:
            # The supervisor enforces the deadline, but not in a container that was paused.
            start_watchdog(raw.ending, spec.timeout_s, lambda: self._end_overdue(raw))
        return raw

    def _end_overdue(self, raw: RawProcess) -> None:
        late = Exit(_TIMED_OUT, signal=GuestSignal.SIGKILL, timed_out=True)
        try:
            if not super().kill(raw.id):
                raw.ending.set(late)
        except SandboxError as error:
            # Before the connection is lost, which would be reported as the end of the container.
            raw.ending.set(late)
            if isinstance(error, BackendError) and error.retryable:
                self._connection.close()

    def kill(self, process_id: str, *, children_only: bool = False) -> bool:
        """See `Machine`. If the supervisor does not answer, the whole container is ended.

        Raises:
            ContainerGoneError: The container was ended.
        """
        try:
            return super().kill(process_id, children_only=children_only)
        except BackendError as error:
            if not error.retryable:
                raise
            self._connection.close()
            raise ContainerGoneError(
                f"nothing in the sandbox could be stopped, so it was ended: {error.message}",
                op="kill",
                backend=self.isolation.backend,
                hint="open a new session",
            ) from None

    def limit_events(self) -> LimitEvents:
        counts = self._request("limit_events", machine=self.id, answer_s=_EVENTS_S)
        return LimitEvents(counts["oom_kills"], counts["refused_forks"])

    def start_kernel(self, spec: KernelSpec) -> RawKernel:
        """See `Machine`. A ``warm`` kernel is forked when the zygote has loaded all modules."""
        if spec.command:
            return super().start_kernel(spec)
        if not self._paths.python:
            raise KernelNotReadyError(f"the image {self.image} has no Python", hint=_KERNEL_HINT)
        if not spec.cold and (not self._zygote_started or spec.packages != self._packages):
            self.start_zygote(spec.packages)
        if spec.warm:
            self._loaded.wait(_LOAD_S)
        return super().start_kernel(spec)

    def start_zygote(self, packages: str | None = None) -> None:
        """Start the zygote, and return at once.

        Args:
            packages: As in `KernelSpec`.
        """
        self._packages = packages
        guest = self._paths.guest
        arguments = _zygote_arguments(guest, ahead=self.spec.ahead, packages=packages)
        argv = [self._paths.python, *arguments]
        variables = {**self._environment, **_zygote_variables(self.spec.workdir)}
        self._request("zygote", argv=argv, env=variables)
        self._zygote_started = True

    def destroy(self) -> None:
        super().destroy()
        self._connection.close()
