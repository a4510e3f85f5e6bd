"""Bridge between a front end's sockets and a kernel in a sandbox."""

import threading
from collections.abc import Callable, Mapping
from typing import Any

import zmq

from llm_sandbox.backends.base import RawKernel
from llm_sandbox.guest import frames
from llm_sandbox.host.wake import Wake
from llm_sandbox.integrations.jupyter.sockets import KernelSockets
from llm_sandbox.jupyter.relay import Refusal, Relay
from llm_sandbox.jupyter.replies import KernelReplies

__all__ = ["Bridge"]

_TICK_MS = 100


class Bridge:
    """Thread that relays messages between a kernel and a front end's sockets, until either ends.

    Args:
        connection: Content of the connection file.
        raw: Streams of the kernel, which the bridge closes.
        send_signal: Function that sends a signal to the kernel.
        refuse: Policy check of code before it is run.
        replies: Answers to requests that the kernel does not handle.
    """

    def __init__(
        self,
        connection: Mapping[str, Any],
        raw: RawKernel,
        send_signal: Callable[[int], object],
        refuse: Refusal,
        replies: KernelReplies,
    ) -> None:
        self._sockets = KernelSockets(connection)
        self._relay = Relay(raw, send_signal, refuse, replies, self._sockets)
        self._wake = Wake()
        self._lock = threading.Lock()
        self._closed = False
        self._stopping = threading.Event()
        self.exit_code: int | None = None
        """How the kernel ended; None while it is there."""
        self._thread = threading.Thread(target=self._run, name="llm-sandbox-jupyter", daemon=True)
        self._thread.start()

    # --- from other threads

    def interrupt(self) -> None:
        """Interrupt the running code."""
        self._relay.interrupt()
        self._rouse()

    def _rouse(self) -> None:
        with self._lock:
            if not self._closed:
                self._wake.set()

    def stop(self) -> None:
        """End the bridge and the kernel, and wait for their end."""
        self._stopping.set()
        self._rouse()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def wait(self) -> None:
        """Wait for the bridge to end."""
        self._thread.join()

    # --- the loop

    def _run(self) -> None:
        relay, sockets = self._relay, self._sockets
        handlers: dict[object, Callable[[], bool]] = {
            self._wake.fileno(): self._woken,
            **{fd: lambda fd=fd: relay.read_pipe(fd) for fd in relay.pipes},  # type: ignore[misc]
            sockets.heartbeat: self._beat,
            **{
                sockets.named[name]: lambda name=name: self._hear(name)  # type: ignore[misc]
                for name in ("control", "stdin", "shell")
            },
            (stream := relay.stream): relay.read_kernel,
        }
        poller = zmq.Poller()
        for source in handlers:
            poller.register(source, zmq.POLLIN)
        try:
            while not (self._stopping.is_set() or relay.is_stopping) and stream in handlers:
                poller.modify(stream, zmq.POLLIN | (zmq.POLLOUT if relay.wants_write else 0))
                ready = dict(poller.poll(_TICK_MS))
                # In the order above: what was printed stands before what comes after it.
                for source in [source for source in handlers if source in ready]:
                    if not handlers[source]():
                        poller.unregister(source)
                        del handlers[source]
                if not ready and relay.has_ended:
                    break
                relay.tick()
                relay.push()
        except frames.FrameError:
            pass  # trust: a kernel that violates the protocol is dropped
        finally:
            ended = relay.close()
            self.exit_code = ended.exit_code if ended is not None else 0
            with self._lock:
                # Under the lock: its number may soon be another's.
                self._closed = True
                self._wake.close()
            sockets.close()

    def _woken(self) -> bool:
        self._wake.clear()
        return True

    def _beat(self) -> bool:
        self._sockets.heartbeat.send(self._sockets.heartbeat.recv())
        return True

    def _hear(self, channel: str) -> bool:
        request = self._sockets.receive(channel)
        if request is not None:
            self._relay.hear(request)
        return True
