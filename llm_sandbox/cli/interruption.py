"""Ctrl-C and closed output while code runs: both end the code, not this process."""

import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from llm_sandbox.data import ExecutionResult
    from llm_sandbox.results.outputs import Output
    from llm_sandbox.session.session import BaseSession

__all__ = ["Interruption"]

_AGAIN_S = 0.05


class Interruption:
    """Context manager that handles Ctrl-C in the main thread.

    While code runs, the first Ctrl-C ends the code, whose run then returns its result as usual. Any
    other one (while a sandbox starts, while a line of input is waited for) raises
    KeyboardInterrupt.
    """

    def __init__(self) -> None:
        self.asked = False
        """Whether the code was interrupted."""
        self.failure: OSError | None = None
        """Error of writing the output; None if it could be written."""
        self._session: BaseSession | None = None
        self._waits_for_input = False
        self._is_raised = False

    def run(
        self,
        session: "BaseSession",
        code: str,
        *,
        timeout: float | None = None,
        stdin: Iterable[str] | None = None,
        on_output: "Callable[[Output], None] | None" = None,
        argv: Sequence[str] = (),
    ) -> "ExecutionResult":
        """Run code in a session; see `BaseSession.run`.

        Args:
            session: An open session.
            code: Code to run.
            timeout: Time limit in seconds.
            stdin: Input of the code.
            on_output: Callback for each output. If it raises OSError, the code is ended.
            argv: Command line of the code.

        Raises:
            KeyboardInterrupt: Ctrl-C came before.
        """

        def forward(output: "Output") -> None:
            if on_output is None or self.failure is not None:
                return
            try:
                on_output(output)
            except OSError as error:
                self.failure = error
                session.interrupt()

        if self._is_raised:
            # Python has ignored it, as in the callback of a weak reference.
            raise KeyboardInterrupt
        lines = stdin if stdin is None or isinstance(stdin, str) else self._lines(stdin)
        self._session = session
        try:
            return session.run(code, timeout=timeout, stdin=lines, on_output=forward, argv=argv)
        finally:
            self._session = None

    def _lines(self, lines: Iterable[str]) -> Iterator[str]:
        iterator = iter(lines)
        while True:
            self._waits_for_input = True
            try:
                line = None if self.asked else next(iterator, None)
            finally:
                self._waits_for_input = False
            if line is None:
                return
            yield line

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._session is None or self._waits_for_input or self.asked:
            self._is_raised = True
            raise KeyboardInterrupt
        self.asked = True
        # In a thread: the main thread may hold the very lock that is needed.
        threading.Thread(target=self._stop, args=(self._session,), daemon=True).start()

    def _stop(self, session: "BaseSession") -> None:
        while self._session is session:
            session.interrupt()
            threading.Event().wait(_AGAIN_S)  # the run may not have begun yet

    def __enter__(self) -> Self:
        self._before = signal.getsignal(signal.SIGINT)
        # Who started this process in the background may have had it ignore Ctrl-C.
        if self._before is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        signal.signal(signal.SIGINT, self._before)
