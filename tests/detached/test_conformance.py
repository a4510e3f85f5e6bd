"""Conformance of machines that a daemon owns: suites that ship with the library.

Files are left out: their service's connection is the client's own. Lifetimes have tests of their
own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import Sandbox
from llm_sandbox.testing.ending_suite import EndingSuite
from llm_sandbox.testing.stream_suite import StreamSuite

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llm_sandbox.backends.base import Backend
    from llm_sandbox.testing.suite import MakeSandbox


@pytest.mark.sampled
@pytest.mark.usefixtures("registry")
class TestKept(StreamSuite, EndingSuite):
    """Every sandbox of the suites has tags, and so a daemon."""

    backend_name = "bubblewrap"

    @pytest.fixture(scope="class")
    @classmethod
    def shared(cls, backend: Backend, registry: Any) -> Iterator[Sandbox]:
        with Sandbox.create(backend=backend, tags={"suite": "shared"}) as sandbox:
            assert registry.record(sandbox.id)["state"] == "running"
            yield sandbox

    @pytest.fixture
    def make(self, backend: Backend, registry: Any) -> Iterator[MakeSandbox]:
        made: list[Sandbox] = []

        def make(**options: Any) -> Sandbox:
            made.append(Sandbox.create(backend=backend, tags={"suite": "own"}, **options))
            return made[-1]

        yield make
        for sandbox in made:
            sandbox.destroy()
