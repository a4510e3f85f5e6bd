"""Metrics of the server, for Prometheus. No label has an id, a name of a file, or code."""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from llm_sandbox.server.fleet import Fleet

__all__ = ["Metrics"]

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class _FleetCollector(Collector):
    """State of the fleet at the time of the question."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Return the state."""
        living = GaugeMetricFamily(
            "llm_sandbox_sandboxes",
            "Living sandboxes",
            labels=("tenant", "api", "backend", "lang"),
        )
        counts: dict[tuple[str, str, str, str], int] = {}
        for live in self._fleet.list():
            place = (live.tenant, live.request.api, live.backend.name, live.language)
            counts[place] = counts.get(place, 0) + 1
        for labels, count in counts.items():
            living.add_metric(labels, count)
        active = GaugeMetricFamily("llm_sandbox_active_runs", "Runs that are under way")
        active.add_metric((), self._fleet.active_runs)
        draining = GaugeMetricFamily("llm_sandbox_draining", "Whether the server is about to end")
        draining.add_metric((), int(self._fleet.is_draining))
        return (living, active, draining)


class Metrics:
    """Metrics of one server.

    Args:
        fleet: Its sandboxes.
    """

    def __init__(self, fleet: Fleet) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(_FleetCollector(fleet))
        self.requests = Counter(
            "llm_sandbox_requests",
            "Answered requests",
            ("api", "route", "status"),
            registry=self._registry,
        )
        self.seconds = Histogram(
            "llm_sandbox_request_seconds",
            "Seconds from a request to the end of its answer",
            ("api", "route"),
            buckets=_SECONDS,
            registry=self._registry,
        )

    def note(self, api: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request.

        Args:
            api: API that answered.
            route: Name of the route; never a path.
            status: HTTP status.
            seconds: Time taken.
        """
        self.requests.labels(api, route, str(status)).inc()
        self.seconds.labels(api, route).observe(seconds)

    def text(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        return generate_latest(self._registry)
