"""Reserve of runners, made ahead of the samples that need them."""

import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

from llm_sandbox.backends.base import Backend
from llm_sandbox.evaluation.limits import EvalLimits
from llm_sandbox.evaluation.runner import Runner
from llm_sandbox.exceptions import SandboxError

__all__ = ["RunnerReserve"]


@dataclass(frozen=True)
class _Kind:
    """What runners differ in."""

    language: str
    limits: EvalLimits
    preload: tuple[str, ...]


class RunnerReserve:
    """Runners of samples, of which the next ones are made while others are in use.

    A runner that was taken belongs to who has it, and never comes back. Used by many threads.

    Args:
        backend: Backend of the machines.
        size: Most runners that wait.
    """

    def __init__(self, backend: Backend, size: int) -> None:
        self._backend = backend
        self._size = size
        self._lock = threading.Lock()
        self._takes: Counter[_Kind] = Counter()
        self._waiting: OrderedDict[_Kind, deque[Future[Runner]]] = OrderedDict()
        self._makers: ThreadPoolExecutor | None = None
        self._is_closed = False

    def take(self, language: str, limits: EvalLimits, preload: Sequence[str]) -> Runner:
        """Return a runner that nobody has used.

        Args:
            language: Language of its programs.
            limits: Limits of tests.
            preload: Libraries that candidates find loaded.

        Raises:
            SandboxError: The machine could not be made.
        """
        kind = _Kind(language, limits, tuple(preload))
        with self._lock:
            waiting = self._waiting.get(kind)
            future = waiting.popleft() if waiting else None
        runner = future.result() if future is not None else self._make(kind)
        if not runner.is_alive:
            runner.close()
            runner = self._make(kind)
        self._refill(kind)
        return runner

    def close(self) -> None:
        """End the runners that wait; no effect if repeated."""
        with self._lock:
            self._is_closed = True
            left = [future for waiting in self._waiting.values() for future in waiting]
            self._waiting.clear()
        if self._makers is not None:
            self._makers.shutdown(cancel_futures=True)
        _discard(left)

    def _make(self, kind: _Kind) -> Runner:
        return Runner(self._backend.for_language(kind.language), kind.limits, kind.preload)

    def _refill(self, kind: _Kind) -> None:
        with self._lock:
            self._takes[kind] += 1
            # One sample alone needs no other runner.
            if self._is_closed or self._takes[kind] < 2:
                return
            waiting = self._waiting.setdefault(kind, deque())
            self._waiting.move_to_end(kind)
            if self._makers is None:
                self._makers = ThreadPoolExecutor(self._size, "llm-sandbox runners")
            waiting.append(self._makers.submit(self._make, kind))
            surplus = self._remove_surplus()
        _discard(surplus)

    def _remove_surplus(self) -> list[Future[Runner]]:
        """Remove and return runners over the size, those first that were not asked for longest."""
        surplus: list[Future[Runner]] = []
        over = sum(map(len, self._waiting.values())) - self._size
        for waiting in self._waiting.values():
            while over > 0 and waiting:
                surplus.append(waiting.popleft())
                over -= 1
        return surplus


def _discard(futures: Sequence[Future[Runner]]) -> None:
    for future in futures:
        future.add_done_callback(_close)


def _close(future: Future[Runner]) -> None:
    if not future.cancelled():
        with suppress(SandboxError):
            future.result().close()
