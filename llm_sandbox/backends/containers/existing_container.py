"""Existing containers of the caller: attaching to one, and leaving it as it was."""

import os
import socket
from collections.abc import Mapping
from typing import IO, Any

from llm_sandbox.backends.base import Control, Isolation, MachineSpec
from llm_sandbox.backends.containers.attach_stream import plain_socket
from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.containers.launch import find_unresponsive_cause, relay
from llm_sandbox.backends.image_machine import supervisor_command
from llm_sandbox.backends.relayed_supervisor import ControlPair, RelayedSupervisor
from llm_sandbox.backends.runtime import Runtime, pack
from llm_sandbox.exceptions import (
    BackendError,
    ContainerGoneError,
    SandboxError,
    UnsupportedError,
)

__all__ = ["AttachedLaunch", "ExistingContainer"]

_FOLDER = "/opt/.llm-sandbox-"
_SETUID = {"ALL", "SETUID", "CAP_SETUID"}


class ExistingContainer:
    """An existing container, started if it is stopped.

    Args:
        engine: The engine.
        container: The container's id or name.
        user: User of the code, ``user[:group]``; None for the container's own user.

    Raises:
        ContainerGoneError: There is no such container, or it cannot be started again.
        BackendError: It is paused.
    """

    def __init__(self, engine: Engine, container: str, user: str | None) -> None:
        self.engine = engine
        self._name = container
        self._facts = self._inspect(container)
        self.id = str(self._facts["Id"])
        if self._facts["State"].get("Paused"):
            raise BackendError(
                f"the container {container!r} is paused",
                backend=engine.name,
                hint=f"{engine.name} unpause {container}",
            )
        if not self._facts["State"]["Running"]:
            with engine.errors("start", container):
                engine.api.start(self.id)
            self.check_running()
        self.image = str(self._facts["Config"]["Image"])
        self.image_id = str(self._facts["Image"])
        self.user = user or str(self._facts["Config"].get("User") or "") or None

    def check_running(self) -> None:
        """Raise ContainerGoneError if it has ended by now."""
        self._facts = self._inspect(self._name)
        if not self._facts["State"]["Running"]:
            raise ContainerGoneError(
                f"the container {self._name!r} was running, or was started, and has ended at once",
                backend=self.engine.name,
                hint="give it a command that does not end, such as `sleep infinity`",
            )

    def _inspect(self, container: str) -> dict[str, Any]:
        try:
            with self.engine.errors("inspect", container):
                found: dict[str, Any] = self.engine.api.inspect_container(container)
        except ContainerGoneError:
            raise ContainerGoneError(
                f"{self.engine.name} has no container {container!r}",
                backend=self.engine.name,
                hint=f"{self.engine.name} ps --all lists those there are",
            ) from None
        return found

    @property
    def supervisor_user(self) -> str:
        """User of the supervisor: user 0 where it can switch to another one."""
        host = self._facts["HostConfig"]
        dropped = _SETUID & {str(name).upper() for name in host.get("CapDrop") or ()}
        added = _SETUID & {str(name).upper() for name in host.get("CapAdd") or ()}
        return (self.user or "0") if dropped and not added else "0:0"

    @property
    def program_user(self) -> str | None:
        """User of programs; None for that of the supervisor."""
        return self.user if self.supervisor_user == "0:0" else None

    def isolation(self) -> Isolation:
        """Return its isolation, as its creator made it."""
        return Isolation(self.engine.name, "container", _controls(self._facts))


class AttachedLaunch:
    """Launch of a supervisor in an existing container; see `backends.connection.Launch`.

    The runtime is copied into a folder of its own, which the supervisor removes when it ends.

    Args:
        container: The container.
        runtime: The runtime.
        spec: The machine.
    """

    def __init__(self, container: ExistingContainer, runtime: Runtime, spec: MachineSpec) -> None:
        self.control_pair = ControlPair()
        self._container = container
        self._runtime = runtime
        self.root = f"{_FOLDER}{os.urandom(4).hex()}"
        self._command = supervisor_command(
            runtime.command_below(self.root),
            spec=spec,
            root=self.root,
            folders=[self.root],
        )

    def __call__(self, far: socket.socket, log: IO[bytes]) -> RelayedSupervisor:
        container, engine = self._container, self._container.engine
        archive = pack(self._runtime, f"{self.root.lstrip('/')}/")
        try:
            with engine.errors("copy", container.id):
                engine.api.put_archive(container.id, "/", archive)
        except BackendError as error:
            container.check_running()
            raise UnsupportedError(
                "container_id", engine.name, f"nothing can be copied into it: {error.message}"
            ) from None
        try:
            with engine.errors("exec", container.id):
                made = engine.api.exec_create(
                    container.id,
                    self._command,
                    stdin=True,
                    user=container.supervisor_user,
                    workdir="/",
                )
                connection = plain_socket(engine.api.exec_start(made["Id"], socket=True))
        except BackendError:
            container.check_running()
            raise
        channel = self.control_pair.supervisor_end(far.dup())
        return relay(connection, channel, log, self.leave)

    def leave(self) -> None:
        """Do nothing: the container belongs to the caller."""

    def obstacle(self) -> SandboxError | None:
        """See `find_unresponsive_cause`."""
        return find_unresponsive_cause(self._container.engine, self._container.id)


def _controls(facts: Mapping[str, Any]) -> dict[str, Control]:
    host = facts["HostConfig"]
    by = "as it was made"

    def held(condition: object, otherwise: str) -> Control:
        return Control("enforced", by) if condition else Control("absent", otherwise)

    privileged = bool(host.get("Privileged"))
    options = [str(option) for option in host.get("SecurityOpt") or ()]
    confined = not privileged and not any("unconfined" in option for option in options)
    return {
        "files": held(not privileged, "it is privileged"),
        "network": held(host.get("NetworkMode") == "none", "it has a network"),
        "processes": held(not host.get("PidMode"), "it shares process numbers"),
        "privileges": held(
            "ALL" in (host.get("CapDrop") or ()),
            "it has the capabilities that it was made with",
        ),
        "system_calls": held(confined, "it has no seccomp filter"),
        "process_count": held((host.get("PidsLimit") or 0) > 0, "it has no limit"),
        "disk": Control("absent", "the engine reports no limit"),
        "lifetime": Control("approximated", "a supervisor ends what it started, and nothing else"),
        "memory": Control("enforced", by)
        if host.get("Memory")
        else Control("approximated", "RLIMIT_DATA a process; the sum is open"),
        "cpu": held(host.get("NanoCpus") or host.get("CpuQuota"), "it has no limit"),
    }
