"""Progress of a run: numbers for a callback, and a bar on a terminal."""

import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self

from llm_sandbox.evaluation.results import SampleResult

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

__all__ = ["Progress", "ProgressMonitor"]


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a run is."""

    total: int | None
    """Number of samples; None if it is not known, as of a stream."""
    done: int = 0
    """Samples with a result, those of an earlier run as well."""
    resumed: int = 0
    """Samples that an earlier run had done."""
    accepted: int = 0
    """Samples of this run that passed every test."""
    infra_errors: int = 0
    """Samples of this run without a score, since the sandbox failed."""
    reruns: int = 0
    """Runs of tests and evaluations of samples beyond the first, in this run."""
    elapsed_s: float = 0.0
    """Time since the start of this run, in seconds."""

    @property
    def rate(self) -> float:
        """Samples per second in this run."""
        return (self.done - self.resumed) / self.elapsed_s if self.elapsed_s > 0 else 0.0

    @property
    def accepted_share(self) -> float | None:
        """Share of accepted samples among the scored ones of this run; None before the first."""
        scored = self.done - self.resumed - self.infra_errors
        return self.accepted / scored if scored > 0 else None

    @property
    def eta_s(self) -> float | None:
        """Estimated time to the end, in seconds; None if it is not known."""
        if self.total is None or not self.rate:
            return None
        return max(0, self.total - self.done) / self.rate

    def __str__(self) -> str:
        total = "" if self.total is None else f"/{self.total:,}"
        words = [f"{self.done:,}{total}", f"{self.rate:.1f}/s"]
        if self.accepted_share is not None:
            words.append(f"AC {self.accepted_share:.1%}")
        words.append(f"IE {self.infra_errors:,}")
        words.append(f"reruns {self.reruns:,}")
        if self.eta_s is not None:
            words.append(f"ETA {_duration(self.eta_s)}")
        return "  ".join(words)


class ProgressMonitor:
    """Counter of a run's results, which tells how far it is; a context manager.

    A bar is drawn on stderr if that is a terminal, and nothing elsewhere. Threads may share it.

    Args:
        total: Number of samples; None if it is not known.
        resumed: Number of samples that an earlier run has done.
        on_progress: Called after each result, in the thread that added it. What it raises goes to
            the caller of `add`.
        bar: Whether to draw the bar.
    """

    def __init__(
        self,
        total: int | None,
        *,
        resumed: int = 0,
        on_progress: Callable[[Progress], object] | None = None,
        bar: bool = True,
    ) -> None:
        self._total = total
        self._resumed = resumed
        self._on_progress = on_progress
        self._lock = threading.Lock()
        self._done = resumed
        self._accepted = self._infra_errors = self._reruns = 0
        self._started_at = time.monotonic()
        self._wants_bar = bar
        self._bar: tuple[Bar, TaskID] | None = None

    def __enter__(self) -> Self:
        self._started_at = time.monotonic()
        if self._wants_bar and _has_terminal():
            self._bar = _start_bar(self.progress)
        return self

    def add(self, result: SampleResult) -> None:
        """Count a result."""
        with self._lock:
            self._done += 1
            self._accepted += result.passed
            self._infra_errors += result.score is None
            self._reruns += max(0, result.attempts - 1)
            self._reruns += sum(max(0, test.attempts - 1) for test in result.tests)
            progress = self.progress
        if self._bar is not None:
            bar, task = self._bar
            bar.update(task, completed=progress.done, words=str(progress))
        if self._on_progress is not None:
            self._on_progress(progress)

    @property
    def progress(self) -> Progress:
        """How far the run is."""
        return Progress(
            total=self._total,
            done=self._done,
            resumed=self._resumed,
            accepted=self._accepted,
            infra_errors=self._infra_errors,
            reruns=self._reruns,
            elapsed_s=time.monotonic() - self._started_at,
        )

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar[0].stop()
            self._bar = None


def _has_terminal() -> bool:
    stream = sys.stderr
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def _start_bar(progress: Progress) -> "tuple[Bar, TaskID]":
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (BarColumn(bar_width=24), TextColumn("{task.fields[words]}", markup=False))
    # Output of the caller is left alone: it may be what a program reads.
    bar = Bar(*columns, console=Console(stderr=True), redirect_stdout=False, redirect_stderr=False)
    task = bar.add_task("", total=progress.total, completed=progress.done, words=str(progress))
    bar.start()
    return bar, task


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
