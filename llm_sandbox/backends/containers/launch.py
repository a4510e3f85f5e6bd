"""Starting a container whose process 1 is our supervisor, and carrying its connection."""

import base64
import collections
import contextlib
import io
import json
import os
import socket
import tarfile
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import IO, Any

from llm_sandbox.backends.base import MachineSpec
from llm_sandbox.backends.connection import SupervisorEnd
from llm_sandbox.backends.containers.attach_stream import AttachTransport, plain_socket
from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.containers.gc.removal import remove_soon
from llm_sandbox.backends.containers.machine import zygote_arguments, zygote_variables
from llm_sandbox.backends.containers.volumes.runtime import COMPLETE
from llm_sandbox.backends.mounts import linked_mount
from llm_sandbox.backends.python_environment import GUEST_ROOT
from llm_sandbox.exceptions import BackendError, ContainerGoneError, SandboxError
from llm_sandbox.guest.control import ControlChannel, Message
from llm_sandbox.guest.mux import Multiplexer, ProtocolError

__all__ = [
    "ContainerLaunch",
    "ControlPair",
    "RelayedSupervisor",
    "find_unresponsive_cause",
    "supervisor_command",
]

_STREAMS = {"stream": 1, "stdin": 1, "stdout": 1, "stderr": 1}


def supervisor_command(
    start: tuple[str, ...],
    *,
    spec: MachineSpec,
    root: str = GUEST_ROOT,
    folders: Sequence[str] | None = None,
) -> list[str]:
    """The command line of the supervisor.

    Args:
        start: Starts an interpreter; see `Runtime.command`.
        spec: The machine; for a kernel the zygote is started at once.
        root: Where the guest's code is.
        folders: What the supervisor removes at its end, where it is not process 1.
    """
    plan = {
        "env": zygote_variables(spec.workdir),
        "zygote": zygote_arguments(root, ahead=spec.ahead) if spec.for_kernel else None,
        "folders": folders,
    }
    code = (
        f"import sys; sys.path.insert(0, {root!r}); open('{root}/{COMPLETE}').close(); "
        f"from guest import container; container.main({plan!r})"
    )
    return [*start, "-c", code]


def find_unresponsive_cause(engine: Engine, container: str) -> SandboxError | None:
    """Why nothing in a container can answer; None as far as its engine knows."""
    try:
        with engine.errors("inspect", container):
            state = engine.api.inspect_container(container)["State"]
    except SandboxError:
        # The connection will tell, whether the container or the engine is gone.
        return None
    if not state.get("Paused"):
        return None
    return BackendError(
        f"the container {container[:12]} was paused by somebody",
        backend=engine.name,
        retryable=True,
        hint=f"{engine.name} unpause {container[:12]}",
    )


class ContainerLaunch:
    """Starts a new container; see `backends.connection.Launch`.

    Args:
        engine: Where.
        image: Name or id of an image that the engine has.
        command: The command line of process 1.
        arguments: Everything else that the client's ``containers.create`` takes.
        goes_with: Name of an image that goes with the container; None for none.
        mounted: Where it has mounts whose paths programs may have changed in the image.
    """

    def __init__(
        self,
        engine: Engine,
        image: str,
        command: list[str],
        arguments: Mapping[str, Any],
        *,
        goes_with: str | None = None,
        mounted: Sequence[str] = (),
    ) -> None:
        self._engine = engine
        self._image = image
        self._command = command
        self._arguments = arguments
        self._goes_with = goes_with
        self._mounted = mounted
        self.control_pair = ControlPair()
        self.container = ""
        """The container's id, once there is one."""

    def __call__(self, far: socket.socket, log: IO[bytes]) -> "RelayedSupervisor":
        engine = self._engine
        self.container = engine.create_container(self._image, self._command, self._arguments)
        connection = None
        try:
            _reject_links(engine, self.container, self._mounted)
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
        return RelayedSupervisor(connection, channel, log, self.leave)

    def obstacle(self) -> SandboxError | None:
        """See `find_unresponsive_cause`."""
        return find_unresponsive_cause(self._engine, self.container) if self.container else None

    def leave(self) -> None:
        """Have the container removed, and return at once; may be called again."""
        remove_soon(self._engine, self.container, self._goes_with)


class RelayedSupervisor:
    """A supervisor at the other end of an engine's connection; see `RunningSupervisor`.

    Args:
        connection: The connection.
        channel: The far end of the control connection.
        log: Takes what the supervisor writes for people.
        at_end: Called when the connection has ended.
    """

    def __init__(
        self,
        connection: socket.socket,
        channel: ControlChannel,
        log: IO[bytes],
        at_end: Callable[[], None],
    ) -> None:
        self._connection = connection
        self._at_end = at_end
        self._mux = Multiplexer(AttachTransport(connection, log), channel, serves=False)
        self._words = "its connection was closed"
        self._thread = threading.Thread(target=self._carry, name="llm-sandbox-carrier", daemon=True)
        self._thread.start()

    def _carry(self) -> None:
        try:
            self._mux.run()
        except ProtocolError as error:
            # trust: what comes from inside may be forged; a connection that is, is given up.
            self._words = f"it does not keep to the protocol: {error}"
        finally:
            with contextlib.suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)
            self._connection.close()
            self._at_end()

    def wait(self) -> SupervisorEnd:
        """See `RunningSupervisor`."""
        self._thread.join()
        return SupervisorEnd(self._words)


class ControlPair:
    """Makes both ends of such connections, one connection after the other."""

    def __init__(self) -> None:
        self._passed: collections.deque[int] = collections.deque()

    def host_end(self, sock: socket.socket) -> ControlChannel:
        """The end that passes descriptors; what an earlier connection left is closed."""
        while self._passed:
            os.close(self._passed.popleft())
        return _SendingEnd(sock, self._passed)

    def supervisor_end(self, sock: socket.socket) -> ControlChannel:
        """The end that receives them."""
        return _ReceivingEnd(sock, self._passed)


class _LocalChannel(ControlChannel):
    def _fill(self) -> bool:
        try:
            data = self.socket.recv(1 << 16)
        except ConnectionError:
            return False
        return self._add(data)


class _SendingEnd(_LocalChannel):
    def __init__(self, sock: socket.socket, passed: collections.deque[int]) -> None:
        super().__init__(sock)
        self._passed = passed

    def send(self, message: Message, fds: Sequence[int] = ()) -> None:
        # Before the record that says how many they are: whoever reads that takes them.
        self._passed.extend(map(os.dup, fds))
        self.socket.sendall(self._record(message, len(fds)))


class _ReceivingEnd(_LocalChannel):
    def __init__(self, sock: socket.socket, passed: collections.deque[int]) -> None:
        super().__init__(sock)
        self._fds = passed

    def send(self, message: Message, fds: Sequence[int] = ()) -> None:
        assert not fds, "descriptors are passed the other way"  # noqa: S101 - the host's own code
        self.socket.sendall(self._record(message, 0))


_STATUS = "X-Docker-Container-Path-Stat"
_IS_LINK = 1 << 27
"""Go's bit for a link in the mode of a file, which engines send."""
_MOST_BYTES = 64 << 10


def _reject_links(engine: Engine, container: str, paths: Iterable[str]) -> None:
    """Do nothing unless the path of a mount has a link that a program may have made.

    Engines mount at what a link in the image leads to, in the container's own root: over what
    process 1 runs, too. Links of root's are the image's own, as no program there is root.

    Args:
        engine: Where the container is.
        container: Its id; it has been made and not been started.
        paths: Where it is to have mounts; absolute, normalised.

    Raises:
        SecurityError: There is one.
        BackendUnavailableError: The engine does not answer.
    """
    looked: set[str] = set()
    for path in paths:
        for place in (*reversed(PurePosixPath(path).parents), PurePosixPath(path)):
            if place == PurePosixPath("/") or str(place) in looked:
                continue
            looked.add(str(place))
            with engine.errors("inspect", container):
                mode = _mode(engine, container, str(place))
            if mode is None:
                break  # the engine makes it, and all below
            # trust: the image was written by programs; the engine's word of it is not theirs.
            if mode & _IS_LINK and _owner(engine, container, str(place)) != 0:
                raise linked_mount(f"{place.name} of {path}")


def _mode(engine: Engine, container: str, path: str) -> int | None:
    api: Any = engine.api
    url = api._url("/containers/{0}/archive", container)
    answer = api.head(url, params={"path": path}, timeout=api.timeout)
    status = answer.headers.get(_STATUS)
    if status is not None:  # Podman has it for a link that leads to nothing, which it calls absent
        return int(json.loads(base64.b64decode(status))["mode"])
    # Links in a circle are an error of the engine's own.
    return None if answer.status_code == 404 else _IS_LINK


def _owner(engine: Engine, container: str, path: str) -> int | None:
    """Whose a link is; None if that cannot be told."""
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
