"""Number of samples in a batch, by how fast a worker was so far."""

__all__ = ["BatchSizes"]

_AIM_S = 0.5
_LEAST, _MOST = 8, 64
_WEIGHT = 0.5


class BatchSizes:
    """Sizes of the next batches: about half a second of work, from 8 to 64 samples.

    The first batch of a worker has one sample for each test that it runs at the same time, since
    nothing is known then. A worker with more than four cores has more than 8, so that none idles.
    """

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}

    def next(self, worker: str, parallel: int) -> int:
        """Return the size of a worker's next batch.

        Args:
            worker: Its name.
            parallel: Number of tests that it runs at the same time.
        """
        seconds = self._seconds.get(worker)
        if seconds is None:
            return parallel
        least = max(_LEAST, 2 * parallel)
        return max(least, min(max(_MOST, least), int(_AIM_S / max(seconds, 1e-6))))

    def note(self, worker: str, samples: int, time_s: float) -> None:
        """Learn from a batch.

        Args:
            worker: Its name.
            samples: Number of samples, at least 1.
            time_s: Time that they took by the clock.
        """
        now = time_s / samples
        before = self._seconds.get(worker, now)
        self._seconds[worker] = _WEIGHT * now + (1 - _WEIGHT) * before
