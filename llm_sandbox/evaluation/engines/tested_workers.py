"""Workers of an engine that passed their self-test."""

import logging
import time
from concurrent.futures import FIRST_COMPLETED, Future, wait
from types import TracebackType
from typing import Self

from llm_sandbox.const import VERSION
from llm_sandbox.evaluation.engines.base import Engine
from llm_sandbox.evaluation.engines.messages import decode, encode
from llm_sandbox.exceptions import (
    BackendUnavailableError,
    LanguageNotSupportedError,
    SandboxError,
    UnsupportedBackendError,
    ValidationError,
)

__all__ = ["TestedWorkers"]

_PAUSE_S = 0.2
_CHECK = encode({"check": True})

logger = logging.getLogger(__name__)


class TestedWorkers:
    """Workers of an engine that passed their self-test.

    One that fails it, or has another version than this process, is left out and named. Leaving the
    context closes the engine.

    Args:
        engine: The engine, which is started here.
        setup: What each worker is made of.
        start_timeout: Seconds that a worker may take to come up and pass.

    Raises:
        BackendUnavailableError: No worker passed.
        MissingDependencyError: The package of the engine is not installed.
        ValidationError: What the workers are made of is invalid.
    """

    __test__ = False

    def __init__(self, engine: Engine, setup: bytes, *, start_timeout: float = 120.0) -> None:
        self._engine = engine
        self._timeout = start_timeout
        self._checks: dict[str, tuple[Future[bytes], float]] = {}
        self._passed: dict[str, int] = {}
        self.name = ""
        """Name and version of what runs the tests: that of the first worker that passed."""
        self.left_out: dict[str, str] = {}
        """Why workers are left out, by their name."""
        try:
            engine.start(setup)
            self.update()
            while self._checks and not self.update():
                wait([check for check, _ in self._checks.values()], _PAUSE_S, FIRST_COMPLETED)
            self._settle()
            self.require()
        except BaseException:
            engine.close()
            raise

    def _settle(self) -> None:
        """Wait for those that are nearly done, so that a run begins with all of its workers."""
        deadline = time.monotonic() + min(self._timeout, 5.0)
        while self._checks and time.monotonic() < deadline:
            wait([check for check, _ in self._checks.values()], _PAUSE_S, FIRST_COMPLETED)
            self.update()

    def update(self) -> list[str]:
        """Return the workers that may be sent batches; new ones are tested first."""
        now = time.monotonic()
        names = list(self._engine.workers())
        for name in names:
            if name not in self._passed and name not in self._checks and name not in self.left_out:
                self._checks[name] = self._engine.submit(name, _CHECK), now + self._timeout
        for name, (check, deadline) in list(self._checks.items()):
            if check.done():
                del self._checks[name]
                self._judge(name, check)
            elif now > deadline:
                del self._checks[name]
                self.leave_out(name, f"it did not come up within {self._timeout:.0f} s")
        return [name for name in names if name in self._passed]

    def _judge(self, name: str, check: Future[bytes]) -> None:
        try:
            facts = decode(check.result())
            if "error" in facts:
                raise SandboxError.from_dict(facts["error"])
            version, engine, workers = facts["version"], facts["engine"], int(facts["workers"])
        except (LanguageNotSupportedError, UnsupportedBackendError, ValidationError):
            raise  # of what all workers are made of
        except SandboxError as error:
            self.leave_out(name, error.message)
        except Exception as error:  # noqa: BLE001 - engines have exceptions of their own
            self.leave_out(name, f"its self-test failed: {type(error).__name__}: {error}"[:500])
        else:
            self.name = self.name or engine
            if version != VERSION:
                self.leave_out(name, f"expected llm-sandbox {VERSION}, got {version}")
            elif engine != self.name:
                self.leave_out(name, f"expected {self.name} as on the first worker, got {engine}")
            else:
                self._passed[name] = workers

    @property
    def is_waiting(self) -> bool:
        """Whether workers are being tested."""
        return bool(self._checks)

    def parallel(self, worker: str) -> int:
        """Return the number of tests that a worker runs at the same time."""
        return self._passed.get(worker, 1)

    def total(self) -> int:
        """Return the number of tests that all workers run at the same time."""
        return sum(self.parallel(name) for name in self.update())

    def submit(self, worker: str, batch: bytes) -> Future[bytes]:
        """Send a batch to a worker; see `Engine.submit`."""
        return self._engine.submit(worker, batch)

    def restart(self, worker: str) -> None:
        """End a worker that does not answer, and start it again; see `Engine.restart`."""
        self._engine.restart(worker)

    def leave_out(self, worker: str, reason: str) -> None:
        """Send nothing to a worker from now on.

        Args:
            worker: Its name.
            reason: Why, in words.
        """
        self._passed.pop(worker, None)
        self.left_out[worker] = reason
        logger.warning("worker %s is left out: %s", worker, reason)

    def require(self) -> None:
        """Check that there is a worker, or one that is being tested.

        Raises:
            BackendUnavailableError: There is none; the message says why each was left out.
        """
        if self.update() or self._checks:
            return
        reasons = "; ".join(f"{name}: {why}" for name, why in list(self.left_out.items())[-3:])
        raise BackendUnavailableError(
            f"no worker can evaluate: {reasons or 'the engine has none'}",
            op="evaluate",
            hint="see `llm-sandbox doctor` on that machine",
        )

    def close(self) -> None:
        """End the workers; no effect if repeated."""
        self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        self.close()
