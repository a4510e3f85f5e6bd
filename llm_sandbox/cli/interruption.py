"""Ctrl-C while code runs: it ends the code wherever this process is at that moment."""

import signal
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Self

from llm_sandbox.kernel.collector import OutputCallback
from llm_sandbox.outputs import Output

__all__ = ["Interruption"]

_AGAIN_S = 0.002


class Interruption:
    """Raises KeyboardInterrupt on Ctrl-C, but never inside a callback of `run`.

    The library lets code run to its end when a callback raises, and an interrupt is likely to come
    in one: that is where the time goes when a program prints much. So one that comes there is put
    off until the callback is over. A callback that cannot write any more (a closed pipe) ends the
    code in the same way. Used in the main thread.
    """

    def __init__(self) -> None:
        self.failure: OSError | None = None
        """Why a callback could not write; None when it could."""
        self.asked_at: float | None = None
        """When the code was interrupted, on the monotonic clock; None when it was not."""
        self._in_callback = False
        self._code = self.callback(lambda _: None).__code__

    def callback(self, hear: Callable[[Output], None]) -> OutputCallback:
        """Return `hear` as a callback that is not interrupted, and whose failure ends the code."""

        def heard(output: Output) -> None:
            self._in_callback = True
            try:
                if self.failure is None:
                    hear(output)
            except OSError as error:
                self.failure = error
                signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
            finally:
                self._in_callback = False

        return heard

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        # A signal is also taken at the callback's first instruction, before it says that it began.
        if self._in_callback or (frame is not None and frame.f_code is self._code):
            signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
        else:
            self.asked_at = time.monotonic()
            raise KeyboardInterrupt

    def __enter__(self) -> Self:
        numbers = [signal.SIGALRM]
        # Who started this process in the background may have had it ignore Ctrl-C.
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            numbers.append(signal.SIGINT)
        self._before = {number: signal.signal(number, self._interrupt) for number in numbers}
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in self._before.items():
            signal.signal(number, handler)
