"""Base of the conformance suites: backend, sandboxes, declared deviations."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from llm_sandbox.backends.base import Backend
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import BackendUnavailableError, MissingDependencyError
from llm_sandbox.sandbox import Sandbox

__all__ = ["MakeSandbox", "Suite", "eventually", "open_descriptors", "usable_backend"]

MakeSandbox = Callable[..., Sandbox]


class Suite:
    """Base of the suites.

    A subclass names its backend, or gives a `backend` fixture of its own. A backend that does not
    work here skips every test with its reason. A behaviour that a backend does not have is
    declared: ``known_deviations = {"test_name": "why"}``; if it starts to work, its test fails.
    """

    backend_name: ClassVar[str]
    known_deviations: ClassVar[dict[str, str]] = {}
    process_allowance: ClassVar[int] = 0
    """Number of processes that code can have beyond `Limits.processes`, where the limit includes
    those of the sandbox itself.
    """

    @pytest.fixture(autouse=True)
    def _declared(self, request: pytest.FixtureRequest) -> None:
        name = getattr(request.node, "originalname", request.node.name)
        reason = self.known_deviations.get(name)
        if reason is not None:
            request.applymarker(pytest.mark.xfail(reason=reason, strict=True))

    @pytest.fixture(scope="class")
    @classmethod
    def backend(cls) -> Backend:
        """Provide the backend under test."""
        return usable_backend(cls.backend_name)

    @pytest.fixture(scope="class")
    @classmethod
    def shared(cls, backend: Backend) -> Iterator[Sandbox]:
        """Provide one sandbox for all tests that leave it unchanged."""
        with Sandbox.create(backend=backend) as sandbox:
            yield sandbox

    @pytest.fixture
    def make(self, backend: Backend) -> Iterator[MakeSandbox]:
        """Provide a factory of sandboxes that end with the test."""
        made: list[Sandbox] = []

        def make(**options: Any) -> Sandbox:
            made.append(Sandbox.create(backend=backend, **options))
            return made[-1]

        yield make
        for sandbox in made:
            sandbox.destroy()

    @pytest.fixture
    def own(self, make: MakeSandbox) -> Sandbox:
        """Provide a sandbox for one test."""
        return make()

    @staticmethod
    def need(sandbox: Sandbox, *resources: str) -> None:
        """Skip the test if the sandbox does not enforce one of the resources."""
        for resource in resources:
            control = sandbox.isolation.controls[resource]
            if control.state == "absent" or sandbox.isolation.level == "none":
                pytest.skip(f"{sandbox.backend} does not hold {resource}: {control.by}")


def usable_backend(name: str) -> Backend:
    """Return a backend by name; skip the test if it is unavailable."""
    backend = get_backend(name)
    try:
        backend.check()
    except (BackendUnavailableError, MissingDependencyError) as error:
        pytest.skip(f"{name}: {error.message}")
    return backend


def eventually(claim: Callable[[], bool], within_s: float = 5.0) -> bool:
    """Return whether `claim` becomes true in time."""
    deadline = time.monotonic() + within_s
    while not claim():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def open_descriptors() -> int:
    """Return the number of open descriptors of this process."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())
