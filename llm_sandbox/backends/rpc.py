"""RPC client over a control channel: numbered requests, their answers, and process endings.

Both ends that this process talks to speak it: supervisors and sandbox daemons. A request has an
``op`` and an ``id``; its answer has the same ``id``. A message with an ``event`` comes unasked.
"""

import contextlib
import itertools
import os
import socket
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any

from llm_sandbox.backends.processes import Ending, Exit
from llm_sandbox.exceptions import BackendError, ContainerGoneError, SandboxError
from llm_sandbox.guest.control import ControlChannel, Message

__all__ = ["Answer", "RpcClient"]

_DIAGNOSE_AFTER_S = 1.5

Answer = tuple[Message, list[int]]
"""A message and the descriptors that came with it."""


class RpcClient:
    """Client's end of a control channel; safe to use from several threads of one process.

    One thread calls `listen`; all others may make requests.

    Args:
        channel: The channel.
        peer: The other end, for error messages.
        gone: Returns the error for a request, by its op, when the peer is gone.
        failure: Returns the error that an answer carries; None if it carries none.
        on_event: Called in the listening thread with every event.
        diagnose: Called, in a thread of its own, when an answer is slow; returns the reason why
            none can come, or None if none is known.
    """

    def __init__(
        self,
        channel: ControlChannel,
        *,
        peer: str,
        gone: Callable[[str | None], ContainerGoneError],
        failure: Callable[[str, Message], SandboxError | None],
        on_event: Callable[[Message], None],
        diagnose: Callable[[], SandboxError | None] | None = None,
    ) -> None:
        self.owner = os.getpid()
        """Process id of the only process that may use this end."""
        self.backend = ""
        """Name of the backend, for error messages."""
        self._channel = channel
        self._peer = peer
        self._gone = gone
        self._failure = failure
        self._on_event = on_event
        self._diagnose = diagnose
        self._diagnosing = False
        self._closed = False
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._answers: dict[int, Future[Answer]] = {}
        self._endings: dict[Hashable, Ending] = {}

    @property
    def is_alive(self) -> bool:
        """Whether this process can make requests."""
        return not self._closed and self.owner == os.getpid()

    def request(
        self, op: str, fds: Sequence[int] = (), *, answer_s: float, **fields: Any
    ) -> Answer:
        """Send a request and wait for the answer.

        Args:
            op: Name of the operation.
            fds: Descriptors to pass along.
            answer_s: Seconds until a missing answer is an error, which is `retryable`.
            fields: Arguments of the operation.

        Returns:
            The answer, and the descriptors that came with it.

        Raises:
            ContainerGoneError: The peer is gone, or another process opened the channel.
            BackendError: No answer came in time.
            SandboxError: The answer is an error.
        """
        if not self.is_alive:  # asked before the lock, which a fork may have left locked
            raise self._gone(op)
        answer: Future[Answer] = Future()
        with self._lock:
            number = next(self._ids)
            self._answers[number] = answer
            try:
                self._channel.send({"op": op, "id": number, **fields}, fds)
            except OSError:
                del self._answers[number]
                raise self._gone(op) from None
        try:
            reply, received = self._await(answer, answer_s)
        except FutureTimeoutError:
            with self._lock:
                self._answers.pop(number, None)
            raise BackendError(
                f"{self._peer} did not answer {op!r} in {answer_s:.0f} s",
                op=op,
                backend=self.backend,
                retryable=True,
            ) from None
        error = self._failure(op, reply)
        if error is not None:
            raise error
        return reply, received

    def notify(self, op: str, **fields: Any) -> None:
        """Send a message that has no answer; do nothing if the peer is gone."""
        if self.is_alive:
            with self._lock, contextlib.suppress(OSError):
                self._channel.send({"op": op, **fields})

    def _await(self, answer: Future[Answer], answer_s: float) -> Answer:
        if self._diagnose is None:
            return answer.result(answer_s)
        deadline = time.monotonic() + answer_s
        while True:
            left = deadline - time.monotonic()
            try:
                return answer.result(min(left, _DIAGNOSE_AFTER_S))
            except FutureTimeoutError:
                if left <= _DIAGNOSE_AFTER_S:
                    raise
            with self._lock:
                busy, self._diagnosing = self._diagnosing, True
            if not busy:
                threading.Thread(
                    target=self._fail_if_obstructed,
                    args=(self._diagnose,),
                    name="llm-sandbox-diagnose",
                    daemon=True,
                ).start()

    def _fail_if_obstructed(self, diagnose: Callable[[], SandboxError | None]) -> None:
        obstacle = None
        try:
            obstacle = diagnose()
        finally:
            with self._lock:
                self._diagnosing = False
            if obstacle is not None:
                self.fail_requests(obstacle)

    def watch(self, key: Hashable = None) -> tuple[Any, Ending]:
        """Return an ending to be set by `end`, and its key.

        Args:
            key: Key of the ending; None for a new number.
        """
        ending = Ending()
        with self._lock:
            key = next(self._ids) if key is None else key
            self._endings[key] = ending
        return key, ending

    def forget(self, key: Hashable) -> None:
        """Forget an ending."""
        with self._lock:
            self._endings.pop(key, None)

    def end(self, key: Hashable, exit: Callable[[], Exit]) -> None:
        """Set an ending; `exit` is called only if somebody watches it."""
        with self._lock:
            ending = self._endings.pop(key, None)
        if ending is not None:
            ending.set(exit())

    def end_all(self, exit: Exit) -> None:
        """Set all endings that are still open."""
        with self._lock:
            endings, self._endings = self._endings, {}
        for ending in endings.values():
            ending.set(exit)

    def fail_requests(self, error: SandboxError) -> None:
        """Raise an error from all requests that wait for an answer."""
        with self._lock:
            answers, self._answers = self._answers, {}
        for answer in answers.values():
            answer.set_exception(error)

    def listen(self) -> None:
        """Receive answers and events until the peer is gone; requests are refused afterwards."""
        try:
            while (record := self._channel.receive()) is not None:
                self._dispatch(*record)
        except (OSError, KeyError, TypeError, ValueError):
            # trust: a peer that violates the protocol is disconnected.
            with contextlib.suppress(OSError):
                self._channel.socket.shutdown(socket.SHUT_RDWR)
        with self._lock:
            self._closed = True

    def _dispatch(self, message: Message, fds: list[int]) -> None:
        try:
            if "event" in message:
                self._on_event(message)
                return
            with self._lock:
                answer = self._answers.pop(message["id"], None)
            if answer is not None:
                answer.set_result((message, fds))
                fds = []
        finally:
            for fd in fds:
                os.close(fd)

    def close(self) -> None:
        """Disconnect; harmless in a forked process. `listen` returns then."""
        if self.owner == os.getpid():
            self._closed = True
            with contextlib.suppress(OSError):
                self._channel.socket.shutdown(socket.SHUT_RDWR)
