"""Machine that is a container."""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from llm_sandbox.backends import python_environment
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
from llm_sandbox.backends.containers.creation.arguments import CPU_PERIOD_US
from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.containers.snapshots import SAVED_SITE, SAVED_WORKDIR, commit_container
from llm_sandbox.backends.snapshot import Snapshot
from llm_sandbox.backends.supervised import GuestPaths, SupervisedMachine, guest_command
from llm_sandbox.backends.watchdog import start_watchdog
from llm_sandbox.exceptions import (
    BackendError,
    ContainerGoneError,
    KernelNotReadyError,
    SandboxError,
    UnsupportedError,
)
from llm_sandbox.host.guest_numbers import GuestSignal
from llm_sandbox.limits import Limits
from llm_sandbox.settings import get_settings

__all__ = [
    "ContainerMachine",
    "Origin",
    "find_network_process",
    "guest_environment",
    "zygote_arguments",
    "zygote_variables",
]

_KERNEL_HINT = "sessions that keep variables need Python 3.11 or newer with ipykernel in the image"
_RULES = "a network with rules"
_RULES_HINT = (
    "use backend='bubblewrap', to which any user can give rules, or run this as root on the "
    "engine's machine"
)
_PATIENCE_S = "1"
_LOAD_S = 60.0
_EVENTS_S = 1.5
_TIMED_OUT = 124
_TMP = "/tmp"  # noqa: S108 - inside the container


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


def zygote_variables(home: str) -> dict[str, str]:
    """Return the variables of the zygote beyond the image's environment.

    Its caches are its own, as programs could not write to files of another user.
    """
    own = _own_variables(home, f"{_TMP}/.zygote")
    return {"LANG": "C.UTF-8", **own, **python_environment.FORKABLE}


def zygote_arguments(root: str, *, ahead: bool, packages: str | None = None) -> list[str]:
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


@dataclass(frozen=True)
class Origin:
    """Container of a machine, and the image that it was made from."""

    engine: Engine
    container: str
    """Its id."""
    image: str
    """The image's id."""
    image_name: str
    """The image's name, for people."""
    saved: Collection[str] = ()
    """Parts of another machine that are saved in the image: ``workdir``, ``site``."""
    memory_allowance: int | None = None
    """Bytes that the container may use beyond `Limits.memory_bytes`; None for an existing
    container, whose limits do not change."""
    changed_root: bool = False
    """Whether files of the image may have been changed in the container."""
    guest: str = python_environment.GUEST_ROOT
    """Folder of the guest's code in the container."""

    @property
    def library_path(self) -> str | None:
        """Folder of the image with saved libraries; None without any."""
        return SAVED_SITE if "site" in self.saved else None


class ContainerMachine(SupervisedMachine):
    """See `Machine`. Its supervisor starts a zygote for its first kernel.

    Args:
        origin: The container.
        loaded: Set when the zygote has loaded everything, or has ended.
    """

    kernel_hint: ClassVar[str] = _KERNEL_HINT

    def __init__(
        self,
        connection: SupervisorConnection,
        spec: MachineSpec,
        isolation: Isolation,
        *,
        origin: Origin,
        confinement: Mapping[str, Any],
        loaded: threading.Event,
        on_destroyed: Callable[[SupervisedMachine], None],
    ) -> None:
        facts = connection.hello
        python = str(facts.get("python") or "")
        self.origin = origin
        super().__init__(
            connection,
            spec,
            isolation,
            GuestPaths(python, origin.guest, tuple(facts["own"])),
            guest_environment(facts["environment"], spec.workdir, origin.library_path),
            confinement=confinement,
            tmpfs=[],
            cgroup=None,
            machine_id=origin.container[:12],
            on_destroyed=on_destroyed,
            watch_memory=False,
            restore=SAVED_WORKDIR if "workdir" in origin.saved else None,
        )
        self._loaded = loaded
        self._zygote_started = bool(facts.get("zygote"))
        self._packages: str | None = None

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

    def live_limits(self) -> frozenset[str]:
        found = super().live_limits()
        return found if self.origin.memory_allowance is None else found | {"memory_bytes", "cpus"}

    def _enforce(self, limits: Limits, changed: frozenset[str]) -> None:
        values: dict[str, Any] = {}
        if "memory_bytes" in changed:
            whole = limits.memory_bytes + (self.origin.memory_allowance or 0)
            values |= {"mem_limit": whole, "memswap_limit": whole}
        if "cpus" in changed:
            quota = -1 if limits.cpus is None else int(limits.cpus * CPU_PERIOD_US)
            values |= {"cpu_period": CPU_PERIOD_US, "cpu_quota": quota}
        if values:
            self.origin.engine.update_container(self.origin.container, values)

    def limit_events(self) -> LimitEvents:
        counts = self._request("limit_events", machine=self.id, answer_s=_EVENTS_S)
        return LimitEvents(counts["oom_kills"], counts["refused_forks"])

    @contextlib.contextmanager
    def process_in_network(self) -> Iterator[int]:
        network = self._connection.hello.get("network")
        yield find_network_process(self.origin.engine, self.origin.container, network)

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
        arguments = zygote_arguments(guest, ahead=self.spec.ahead, packages=packages)
        argv = [self._paths.python, *arguments]
        variables = {**self._environment, **zygote_variables(self.spec.workdir)}
        self._request("zygote", argv=argv, env=variables)
        self._zygote_started = True

    @property
    def container(self) -> str:
        """The container's id."""
        return self.origin.container

    def engine_container(self) -> Any:
        with self.origin.engine.errors("inspect", self.container):
            return self.origin.engine.client.containers.get(self.container)

    @property
    def images(self) -> tuple[str, str]:
        return self.origin.image, self.image

    @property
    def image(self) -> str:
        """The image's name, for people."""
        return self.origin.image_name

    @property
    def library_path(self) -> str | None:
        return self.origin.library_path

    def snapshot(
        self,
        workdir: bytes,
        name: str | None,
        site: Path | None = None,
        *,
        expires_at: float | None = None,
    ) -> Snapshot:
        origin = self.origin
        created_at = time.time()
        name = name or f"llm-sandbox/snapshot:{os.urandom(6).hex()}"
        user = self._confinement.get("user") or (0, 0)
        image = commit_container(
            origin.engine,
            origin.container,
            image=origin.image,
            changed_root=origin.changed_root,
            workdir=workdir,
            owner=(user[0], user[1]),
            site=site,
            name=name,
            backend=self.isolation.backend,
            created_at=created_at,
            expires_at=expires_at,
        )
        return Snapshot(
            self.isolation.backend,
            origin.engine.identity,
            image,
            name,
            created_at=created_at,
            expires_at=expires_at,
        )

    def destroy(self) -> None:
        super().destroy()
        self._connection.close()


def find_network_process(engine: Engine, container: str, network: object) -> int:
    """Return the process id of a container's process 1, in the process namespace of the caller.

    Args:
        engine: The container's engine.
        container: Its id.
        network: The network namespace that its supervisor reported; see
            `guest.linux.network_name`.

    Raises:
        UnsupportedError: This process may not enter the container's network, or the container does
            not run on this kernel.
    """
    # Exists on Linux only.
    from llm_sandbox.guest.linux import network_name

    if os.geteuid() != 0:
        raise UnsupportedError(
            _RULES,
            engine.name,
            "only root can enter the network of a container",
            hint=_RULES_HINT,
        )
    with engine.errors("inspect", container):
        process = int(engine.api.inspect_container(container)["State"].get("Pid") or 0)
    # Process ids of another machine, or of another process namespace, mean other processes here.
    found = network_name(process) if process > 0 else ""
    if not found or found != network or found == network_name():
        raise UnsupportedError(
            _RULES,
            engine.name,
            "its engine runs on another machine, in another container, or with a runtime that has "
            "a network of its own",
            hint=_RULES_HINT,
        )
    return process
