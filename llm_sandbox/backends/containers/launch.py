"""Starting a container whose process 1 is our supervisor, and carrying its connection."""

import contextlib
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any

from llm_sandbox.backends.base import MachineSpec
from llm_sandbox.backends.connection import SupervisorEnd
from llm_sandbox.backends.containers.attach_stream import AttachTransport, plain_socket_of
from llm_sandbox.backends.containers.control_pair import ControlPair
from llm_sandbox.backends.containers.engine import Engine
from llm_sandbox.backends.containers.gc.removal import remove_soon
from llm_sandbox.backends.containers.machine import zygote_arguments, zygote_variables
from llm_sandbox.backends.containers.mount_links import reject_links
from llm_sandbox.backends.containers.volumes.runtime import COMPLETE
from llm_sandbox.backends.python_environment import GUEST_ROOT
from llm_sandbox.exceptions import BackendError, SandboxError
from llm_sandbox.guest.control import ControlChannel
from llm_sandbox.guest.mux import Multiplexer, ProtocolError

__all__ = ["ContainerLaunch", "RelayedSupervisor", "find_unresponsive_cause", "supervisor_command"]

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
            reject_links(engine, self.container, self._mounted)
            with engine.errors("start", self._image):
                # Attached first: process 1 ends when nobody holds its standard input.
                connection = plain_socket_of(
                    engine.api.attach_socket(self.container, params=_STREAMS)
                )
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
