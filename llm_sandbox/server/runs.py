"""Runs of code in a session: each goes on without its client, and is followed by any number."""

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from llm_sandbox.data import ExecutionResult
from llm_sandbox.exceptions import (
    SandboxError,
    SandboxNotFoundError,
    SandboxTimeoutError,
    UnsupportedError,
)
from llm_sandbox.results import outputs
from llm_sandbox.server.event_log import EventLog
from llm_sandbox.session.session import BaseSession

__all__ = ["Run", "RunRequest", "RunTable"]

_REMEMBERED = 1000
"""Runs of a session whose result is kept."""
_RESUMABLE = 4
"""Runs that have ended and whose events are kept."""
_MOST_UNFINISHED = 33
"""One run, and as many that wait as a session lets wait."""
_LOOK_S = 0.5


@dataclass(frozen=True)
class RunRequest:
    """Code to run, with the arguments of `BaseSession.run`."""

    code: str
    libraries: tuple[str, ...] = ()
    timeout: float | None = None
    stdin: str | None = None
    argv: Sequence[str] = ()
    interactive: bool = False
    """Whether `input` waits for answers of the client."""


class Run:
    """One run of code.

    Args:
        number: Its number in the session, from 1.
        request: What is run.
    """

    def __init__(self, number: int, request: RunRequest) -> None:
        self.number = number
        self.request = request
        self.log = EventLog()
        """Events ``output`` and ``input``, before that of `end`."""
        self.started_at = time.time()
        self.ended_at: float | None = None
        self.result: ExecutionResult | None = None
        """Its result; None while it runs, and if it was refused or has failed."""
        self.error: SandboxError | None = None
        """Why there is no result."""
        self.is_waiting = False
        """Whether the code waits for an answer of the client."""
        self._answers: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._is_stopped = False

    def execute(self, session: BaseSession) -> None:
        """Run the code to its end, in the thread of the caller."""
        request = self.request
        try:
            self.result = session.run(
                request.code,
                list(request.libraries) or None,
                request.timeout,
                stdin=self._lines() if request.interactive else request.stdin,
                on_output=self._on_output,
                argv=request.argv,
            )
        except SandboxTimeoutError as error:
            # What the program did is a result.
            if isinstance(error.result, ExecutionResult):
                self.result = error.result
            else:
                self.error = error
        except SandboxError as error:
            self.error = error
        except Exception:
            self.error = SandboxError("the server failed in this run")
            raise
        finally:
            self.ended_at = time.time()
            self.is_waiting = False
            if self.result is None:
                self.error = self.error or SandboxError("the run was broken off")
            self.log.close()

    def end(self) -> tuple[str, dict[str, object]]:
        """Return the last event of a run that has ended: its result, or its error."""
        if self.result is not None:
            return "result", self.result.to_dict()
        return "error", {} if self.error is None else self.error.to_dict()

    def _on_output(self, output: outputs.Output) -> None:
        self.log.add("output", outputs.to_dict(output))

    def _lines(self) -> Iterator[str]:
        """Yield the client's answers, until it ends the input or the run is stopped."""
        timeout = self.request.timeout
        limit = None if timeout is None else time.monotonic() + timeout
        while True:
            self.is_waiting = True
            self.log.add("input", {})
            while True:
                try:
                    answer = self._answers.get(timeout=_LOOK_S)
                    break
                except queue.Empty:
                    # A deadline counts while the code waits for people, too.
                    if self._is_stopped or (limit is not None and time.monotonic() > limit):
                        return
            self.is_waiting = False
            if answer is None:
                return
            yield answer

    def answer(self, text: str | None) -> None:
        """Answer the code that waits for input; None is the end of the input."""
        self._answers.put(text)

    def stop(self) -> None:
        """Let the code wait for no further answer."""
        self._is_stopped = True


class RunTable:
    """Runs of one session, oldest first. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: dict[int, Run] = {}
        self._by_key: dict[str, Run] = {}
        self._count = 0

    def start(
        self,
        session: BaseSession,
        request: RunRequest,
        counted: Callable[[], AbstractContextManager[None]],
        key: str | None = None,
    ) -> Run:
        """Start a run in a thread of its own.

        Args:
            session: The session.
            request: What is run.
            counted: Context of a run under way.
            key: Idempotency key: the run of the same key is returned, and nothing is started.

        Raises:
            UnsupportedError: Too many wait already, or the key is that of another request.
        """
        with self._lock:
            known = None if key is None else self._by_key.get(key)
            if known is not None:
                if known.request != request:
                    raise UnsupportedError("an Idempotency-Key for another request")
                return known
            if sum(run.ended_at is None for run in self._runs.values()) >= _MOST_UNFINISHED:
                raise UnsupportedError(f"more than {_MOST_UNFINISHED} runs of one session at once")
            self._count += 1
            run = self._runs[self._count] = Run(self._count, request)
            if key is not None:
                self._by_key[key] = run
            self._tidy()

        def work() -> None:
            with counted():
                run.execute(session)

        threading.Thread(target=work, name=f"llm-sandbox run {run.number}", daemon=True).start()
        return run

    def _tidy(self) -> None:
        ended = [run for run in self._runs.values() if run.ended_at is not None]
        for run in ended[:-_RESUMABLE]:
            run.log.forget()
        for run in ended[: max(0, len(self._runs) - _REMEMBERED)]:
            del self._runs[run.number]
        self._by_key = {key: run for key, run in self._by_key.items() if run.number in self._runs}

    def get(self, number: int) -> Run:
        """Return a run by its number.

        Raises:
            SandboxNotFoundError: There is none.
        """
        with self._lock:
            if number in self._runs:
                return self._runs[number]
        raise SandboxNotFoundError(f"run {number}", hint=None)

    def list(self) -> list[Run]:
        """Return the runs that are remembered, oldest first."""
        with self._lock:
            return list(self._runs.values())

    def stop(self) -> None:
        """Let no run wait for input any longer."""
        for run in self.list():
            run.stop()
