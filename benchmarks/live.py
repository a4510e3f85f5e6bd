"""Open session of this library and open stock kernel, for the length of a race."""

from collections.abc import Callable, Mapping

from benchmarks import ours
from benchmarks.stock import StockKernel
from llm_sandbox import Limits
from llm_sandbox.session.session import BaseSession

__all__ = ["LivePair"]


class LivePair:
    """Pair that is opened when first needed; both have answered a first cell.

    Args:
        limits: Limits of the session; None for the default.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits
        self._session: BaseSession | None = None
        self._stock: StockKernel | None = None

    @property
    def session(self) -> BaseSession:
        """Return the session of this library."""
        if self._session is None:
            with ours.without_pool():
                self._session = ours.new_session(limits=self._limits)
                self._session.open()
            ours.checked_run(self._session, "print(1)", "1\n")
        return self._session

    @property
    def stock(self) -> StockKernel:
        """Return the stock kernel."""
        if self._stock is None:
            self._stock = StockKernel()
            self._stock.open()
            self._stock.run("print(1)")
        return self._stock

    def close(self) -> None:
        """End both."""
        if self._session is not None:
            self._session.close()
        if self._stock is not None:
            self._stock.close()
        self._session = self._stock = None

    def lane(
        self, measure: Callable[["LivePair"], Mapping[str, float]]
    ) -> Callable[[], Mapping[str, float]]:
        """Return a lane of a race: the measurement of `measure` on this pair."""
        return lambda: measure(self)
