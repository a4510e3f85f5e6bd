"""Launch of a container with the supervisor as process 1."""

import base64
import io
import json
import socket
import tarfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import IO, Any

from llm_sandbox.backends.containers.attach_stream import AttachTransport, plain_socket
from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.containers.gc.removal import remove_soon
from llm_sandbox.backends.mounts import linked_mount
from llm_sandbox.backends.relayed_supervisor import ControlPair, RelayedSupervisor
from llm_sandbox.exceptions import BackendError, ContainerGoneError, SandboxError
from llm_sandbox.guest.control import ControlChannel

__all__ = ["ContainerLaunch", "find_unresponsive_cause", "relay"]

_STREAMS = {"stream": 1, "stdin": 1, "stdout": 1, "stderr": 1}


def find_unresponsive_cause(engine: Engine, container: str) -> SandboxError | None:
    """Return why a container cannot answer; None as far as its engine knows."""
    try:
        with engine.errors("inspect", container):
            state = engine.api.inspect_container(container)["State"]
    except SandboxError:
        # If the container or the engine is gone, the connection ends as well.
        return None
    if not state.get("Paused"):
        return None
    return BackendError(
        f"the container {container[:12]} was paused by somebody",
        backend=engine.name,
        retryable=True,
        hint=f"{engine.name} unpause {container[:12]}",
    )


def relay(
    connection: socket.socket,
    channel: ControlChannel,
    log: IO[bytes],
    at_end: Callable[[], None],
) -> RelayedSupervisor:
    """Return the supervisor at the other end of an engine's connection.

    Args:
        connection: The connection.
        channel: The supervisor's end of the control connection.
        log: Receives the log of the supervisor.
        at_end: Called when the connection has ended.
    """
    return RelayedSupervisor(connection, AttachTransport(connection, log), channel, at_end)


class ContainerLaunch:
    """Launch of a new container; see `backends.connection.Launch`.

    Args:
        engine: The engine.
        image: Name or id of an image that the engine has.
        command: Command line of process 1.
        arguments: Further arguments of the client's ``containers.create``.
        temporary_image: Name of an image that is removed with the container; None for none.
        checked_mounts: Mount points whose paths programs may have changed in the image.
    """

    def __init__(
        self,
        engine: Engine,
        image: str,
        command: list[str],
        arguments: Mapping[str, Any],
        *,
        temporary_image: str | None = None,
        checked_mounts: Sequence[str] = (),
    ) -> None:
        self._engine = engine
        self._image = image
        self._command = command
        self._arguments = arguments
        self._temporary_image = temporary_image
        self._checked_mounts = checked_mounts
        self.control_pair = ControlPair()
        self.container = ""
        """The container's id; empty until it is created."""

    def __call__(self, far: socket.socket, log: IO[bytes]) -> "RelayedSupervisor":
        engine = self._engine
        self.container = engine.create_container(self._image, self._command, self._arguments)
        connection = None
        try:
            _reject_links(engine, self.container, self._checked_mounts)
            with engine.errors("start", self._image):
                # Attached first: process 1 ends when nobody holds its standard input.
                connection = plain_socket(engine.api.attach_socket(self.container, params=_STREAMS))
                engine.api.start(self.container)
        except BaseException:
            if connection is not None:
                connection.close()
            self.leave()
            raise
        channel = self.control_pair.supervisor_end(far.dup())
        return relay(connection, channel, log, self.leave)

    def obstacle(self) -> SandboxError | None:
        """See `find_unresponsive_cause`."""
        return find_unresponsive_cause(self._engine, self.container) if self.container else None

    def leave(self) -> None:
        """Remove the container in the background; may be called again."""
        remove_soon(self._engine, self.container, self._temporary_image)


_STATUS = "X-Docker-Container-Path-Stat"
_IS_LINK = 1 << 27
"""Bit for a link in the modes of files that engines send, which are Go's."""
_MOST_BYTES = 64 << 10


def _reject_links(engine: Engine, container: str, paths: Iterable[str]) -> None:
    """Reject a mount point whose path has a link that a program may have made.

    Engines follow links of the image in the container's root, also to files that process 1 runs.
    Links of root are the image's own, as no program there is root.

    Args:
        engine: The container's engine.
        container: Its id; it has been created and not started.
        paths: Its mount points; absolute, normalised.

    Raises:
        SecurityError: A path has such a link.
        BackendUnavailableError: The engine does not answer.
    """
    checked: set[str] = set()
    for path in paths:
        for parent in (*reversed(PurePosixPath(path).parents), PurePosixPath(path)):
            if parent == PurePosixPath("/") or str(parent) in checked:
                continue
            checked.add(str(parent))
            with engine.errors("inspect", container):
                mode = _mode(engine, container, str(parent))
            if mode is None:
                break  # the engine creates it, and all below
            # trust: programs wrote the image; the engine's answer about it is not theirs.
            if mode & _IS_LINK and _owner(engine, container, str(parent)) != 0:
                raise linked_mount(f"{parent.name} of {path}")


def _mode(engine: Engine, container: str, path: str) -> int | None:
    api: Any = engine.api
    url = api._url("/containers/{0}/archive", container)
    answer = api.head(url, params={"path": path}, timeout=api.timeout)
    status = answer.headers.get(_STATUS)
    if status is not None:  # Podman sends it for a dangling link too, with status 404
        return int(json.loads(base64.b64decode(status))["mode"])
    # A circle of links is an error of the engine.
    return None if answer.status_code == 404 else _IS_LINK


def _owner(engine: Engine, container: str, path: str) -> int | None:
    """Return the user id that a link belongs to; None if unknown."""
    api: Any = engine.api
    try:
        with engine.errors("copy", container):
            pieces, _ = api.get_archive(container, path)
            data = b"".join(pieces)
    except (BackendError, ContainerGoneError):
        return None
    if len(data) > _MOST_BYTES:
        return None
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        member = archive.next()
    return member.uid if member is not None and member.issym() else None
