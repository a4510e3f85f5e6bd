"""Stream to the supervisor of a pod, which is connected again after each cut."""

import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

from llm_sandbox.backends.connection import SupervisorEnd
from llm_sandbox.backends.kubernetes.cluster import ApiError
from llm_sandbox.backends.kubernetes.exec_stream import ExecStream
from llm_sandbox.backends.python_environment import GUEST_ROOT
from llm_sandbox.exceptions import SandboxError
from llm_sandbox.guest.resumable import (
    KEY_SIZE,
    NO_STREAM,
    FramedConnection,
    LinkError,
    ResumableStream,
)

__all__ = ["FIRST_PAUSE_S", "RESERVE_S", "PodLink", "relay_command"]

FIRST_PAUSE_S: Final = 0.1
"""Seconds between the first two attempts to connect."""
RESERVE_S: Final = 10.0
"""Seconds before the supervisor gives up, at which this end does."""
_MOST_PAUSE_S: Final = 5.0
_ANSWER_S: Final = 0.3
_LAST_BYTES_S: Final = 1.0
_END_KNOWN_S: Final = 5.0
"""Seconds that the kubelet may take to say how a container ended."""


def relay_command(
    start: Sequence[str], root: str = GUEST_ROOT, address: str | None = None
) -> list[str]:
    """Return the command line of a relay to the supervisor.

    Args:
        start: Command line of an interpreter.
        root: Folder of the guest's code.
        address: Address of the supervisor's socket; None for that of process 1.
    """
    given = "" if address is None else repr(address)
    code = f"import sys; sys.path.insert(0, {root!r}); from guest import pod; pod.relay({given})"
    return [*start, "-c", code]


class PodLink:
    """Stream to process 1 of a pod, connected again after each cut.

    Args:
        local: Socket whose bytes are carried.
        connect: Starts a relay.
        find_end: Returns how the pod ended; None while it runs. A `SandboxError` counts as None.
        patience_s: Seconds after a cut for which it is connected again.
        key: Key that process 1 knows already; None to bring one.
        brings_key: Whether process 1 does not know the key yet.
        stream: Stream that is wanted, of a process 1 that has several.
    """

    def __init__(
        self,
        local: socket.socket,
        connect: Callable[[], ExecStream],
        find_end: Callable[[], SupervisorEnd | None],
        patience_s: float,
        key: bytes | None = None,
        *,
        brings_key: bool = False,
        stream: bytes = NO_STREAM,
    ) -> None:
        self._wanted = stream
        self._closing = threading.Event()
        self._stream = ResumableStream(local, self._closing.is_set)
        self._connect = connect
        self._find_end = find_end
        self._patience_s = patience_s
        self._key = key or os.urandom(KEY_SIZE)
        self._is_first = key is None or brings_key
        self._connected: tuple[FramedConnection, int] | None = None
        self._end: SupervisorEnd | None = None
        self._thread = threading.Thread(target=self._run, name="llm-sandbox-link", daemon=True)

    def start(self) -> None:
        """Carry the stream in a thread."""
        self._thread.start()

    def abandon(self) -> None:
        """Close it before it was started."""
        if self._connected is not None:
            self._connected[0].connection.close()
        self._stream.close()

    def close(self) -> SupervisorEnd | None:
        """Close it, and return how the pod ended, if it did by itself."""
        # Its local socket is closed: the last bytes are sent, and process 1 is told.
        self._thread.join(_LAST_BYTES_S)
        if self._thread.is_alive():
            self._closing.set()
            self._stream.wake()
        return self._end

    def connect(self) -> None:
        """Connect, and prove to process 1 who this is.

        Raises:
            ApiError: The server refused.
            LinkError: Process 1 does not answer, or is another one.
            OSError: The server cannot be reached.
        """
        stream = self._connect()
        try:
            framed = FramedConnection(stream)
            received = self._stream.received
            passed_on = framed.introduce(
                self._key, received, is_first=self._is_first, stream=self._wanted
            )
        except BaseException:
            stream.close()
            raise
        self._connected = framed, passed_on

    def _run(self) -> None:
        try:
            while not self._closing.is_set():
                connected, self._connected = self._connected, None
                if connected is None:
                    if not self._connect_again():
                        return
                    continue
                framed, passed_on = connected
                self._is_first = False
                try:
                    self._stream.run(framed, passed_on)
                except ApiError:
                    pass  # the relay was ended; the next one may say why
                except OSError:
                    pass
                except LinkError as error:
                    # trust: what comes from inside may break the rules; that ends the stream.
                    self._end = SupervisorEnd(f"it does not keep to the protocol: {error}")
                    return
                finally:
                    framed.connection.close()
                if self._stream.ended:
                    self._end = self._end or self._wait_for_end()
                    return
        finally:
            self._stream.close()

    def _wait_for_end(self) -> SupervisorEnd | None:
        if not self._stream.ended_by_peer:
            return None
        deadline = time.monotonic() + _END_KNOWN_S
        while (found := self._known_end()) is None and time.monotonic() < deadline:
            time.sleep(_ANSWER_S)
        return found

    def _known_end(self) -> SupervisorEnd | None:
        with contextlib.suppress(SandboxError):
            return self._find_end()
        return None

    def _connect_again(self) -> bool:
        """Connect after a cut; return False if the pod has ended, or time is up."""
        deadline = time.monotonic() + self._patience_s
        pause = FIRST_PAUSE_S
        words = "the connection to it was cut"
        while not self._closing.is_set():
            self._end = self._known_end()
            if self._end is not None:
                return False
            try:
                self.connect()
                return True
            except (SandboxError, LinkError, OSError) as error:
                words = str(error)
            if time.monotonic() + pause > deadline:
                self._end = SupervisorEnd(f"it could not be reached for too long: {words}")
                return False
            self._closing.wait(pause)
            pause = min(_MOST_PAUSE_S, pause * 2)
        return False
