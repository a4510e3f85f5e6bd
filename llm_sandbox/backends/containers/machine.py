"""A machine that is a container."""

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
from llm_sandbox.backends.containers.commit import SAVED_SITE, SAVED_WORKDIR, commit_container
from llm_sandbox.backends.containers.creation.arguments import CPU_PERIOD_US
from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.snapshot import Snapshot
from llm_sandbox.backends.supervised import GuestPaths, SupervisedMachine, guest_command
from llm_sandbox.backends.watchdog import start_watchdog
from llm_sandbox.exceptions import (
    BackendError,
    ContainerGoneError,
    KernelNotReadyError,
    SandboxError,
)
from llm_sandbox.host.guest_numbers import GuestSignal
from llm_sandbox.limits import Limits
from llm_sandbox.settings import get_settings

__all__ = [
    "ContainerMachine",
    "Origin",
    "guest_environment",
    "zygote_arguments",
    "zygote_variables",
]

_KERNEL_HINT = "sessions that keep variables need Python 3.11 or newer with ipykernel in the image"


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
    """The environment of every program, before what the caller adds.

    Args:
        image: What the image's own environment is.
        home: Folder for HOME.
        library_path: Folder with saved libraries.
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
    """What the zygote has over the image's environment.

    Its caches are its own: what another user has made, programs could not write to.
    """
    own = _own_variables(home, f"{_TMP}/.zygote")
    return {"LANG": "C.UTF-8", **own, **python_environment.FORKABLE}


def zygote_arguments(root: str, *, ahead: bool, packages: str | None = None) -> list[str]:
    """The arguments by which a Python becomes the zygote.

    Args:
        root: Where the guest's code is.
        ahead: Whether it is started ahead of need. Otherwise it has one session to serve, which
            comes first: what that never uses is not loaded beside it.
        packages: As in `KernelSpec`.
    """
    paths = GuestPaths("", root)
    command = guest_command(paths, "zygote.main", isolated_site=False, packages=packages)
    return [*command[1:], *((get_settings().preload, "0") if ahead else ("lean", _PATIENCE_S))]


@dataclass(frozen=True)
class Origin:
    """The container that a machine is, and what it was made from."""

    engine: Engine
    container: str
    """Its id."""
    image: str
    """The image's id."""
    image_name: str
    """The image's name, for people."""
    saved: Collection[str] = ()
    """What the image has saved of another machine: ``workdir``, ``site``."""
    memory_allowance: int | None = None
    """Bytes that the container may have beyond `Limits.memory_bytes`; None for one that is not
    ours, whose limits stay as they are."""
    changed_root: bool = False
    """Whether the image's own files can have been changed in it."""
    guest: str = python_environment.GUEST_ROOT
    """Where in it our code is."""

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
            # The deadline is kept inside; a container that was stopped from outside keeps none.
            start_watchdog(raw.ending, spec.timeout_s, lambda: self._end_overdue(raw))
        return raw

    def _end_overdue(self, raw: RawProcess) -> None:
        late = Exit(_TIMED_OUT, signal=GuestSignal.SIGKILL, timed_out=True)
        try:
            if not super().kill(raw.id):
                raw.ending.set(late)
        except SandboxError as error:
            # Before the connection is lost, which would be told as the end of the container.
            raw.ending.set(late)
            if isinstance(error, BackendError) and error.retryable:
                self._connection.close()

    def kill(self, process_id: str, *, children_only: bool = False) -> bool:
        """See `Machine`. Where nothing answers, the container is ended with all that is in it.

        Raises:
            ContainerGoneError: So it was.
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

    def _hold(self, limits: Limits, changed: frozenset[str]) -> None:
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
        # Of Linux alone; see `SandboxNetwork`.
        from llm_sandbox.backends.containers.network_process import find_network_process

        network = self._connection.hello.get("network")
        yield find_network_process(self.origin.engine, self.origin.container, network)

    def start_kernel(self, spec: KernelSpec) -> RawKernel:
        """See `Machine`. One that is kept ready, ``warm``, is forked when all is loaded."""
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
        """Start what kernels are forked from, and return at once.

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
