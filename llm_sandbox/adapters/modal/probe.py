"""Readiness probes of sandboxes."""

from dataclasses import dataclass

from llm_sandbox.adapters.modal.checks import check_args
from llm_sandbox.adapters.modal.exception import InvalidError
from llm_sandbox.adapters.modal.translation import translated
from llm_sandbox.sandbox.readiness import CommandReady, PortReady, Readiness

__all__ = ["Probe"]

_MS = 1000.0


@dataclass(frozen=True)
class Probe:
    """Condition for `Sandbox.wait_until_ready`; created by `with_tcp` or `with_exec`."""

    _readiness: Readiness

    @staticmethod
    def with_tcp(port: int, *, interval_ms: int = 100) -> "Probe":
        """Return a probe that succeeds when something listens on a port.

        Args:
            port: 1 to 65535.
            interval_ms: Milliseconds between checks.

        Raises:
            InvalidError: A value is invalid.
        """
        with translated():
            return Probe(PortReady(port, every=_seconds(interval_ms)))

    @staticmethod
    def with_exec(*argv: str, interval_ms: int = 100) -> "Probe":
        """Return a probe that succeeds when a command exits with 0.

        Args:
            argv: The program and its arguments.
            interval_ms: Milliseconds between runs.

        Raises:
            InvalidError: A value is invalid.
        """
        check_args(argv)
        with translated():
            return Probe(CommandReady(*argv, every=_seconds(interval_ms)))


def _seconds(interval_ms: object) -> float:
    if isinstance(interval_ms, bool) or not isinstance(interval_ms, int) or interval_ms <= 0:
        raise InvalidError("interval_ms is a whole number above 0", parameter="interval_ms")
    return interval_ms / _MS
