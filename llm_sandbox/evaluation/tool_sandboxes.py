"""Sandboxes for the code that belongs to tests: checkers, interactors, assertions."""

from collections import OrderedDict

from llm_sandbox.backends.base import Backend
from llm_sandbox.evaluation.sample_runner import Candidate, SampleRunner

__all__ = ["ToolSandboxes"]

_MOST = 4
_USES = 200


class ToolSandboxes:
    """Sandboxes of one thread, each for one program, and each ended after some uses.

    Args:
        backend: Backend of the sandboxes.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._runners: OrderedDict[str, tuple[SampleRunner, int]] = OrderedDict()

    def get(self, code: Candidate) -> SampleRunner:
        """Return the sandbox of a program."""
        key = f"{code.handler.name} {code.limits} {code.setup}\0{code.code}"
        runner, uses = self._runners.pop(key, (None, 0))
        if runner is not None and uses >= _USES:
            runner.close()
            runner = None
        if runner is None:
            runner, uses = SampleRunner(self._backend, code), 0
        self._runners[key] = (runner, uses + 1)
        while len(self._runners) > _MOST:
            self._runners.popitem(last=False)[1][0].close()
        return runner

    def close(self) -> None:
        """End all sandboxes."""
        runners, self._runners = self._runners, OrderedDict()
        for runner, _ in runners.values():
            runner.close()
