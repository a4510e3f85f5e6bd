"""Races of starting a program in an existing sandbox against its engine's own."""

import statistics
import time
from collections.abc import Mapping
from typing import Any

from benchmarks.containers import missing_engine
from benchmarks.race import CorrectnessError, Race, Row, Target
from llm_sandbox import Sandbox
from llm_sandbox.backends.recipes import image_name

__all__ = ["races"]

_REPEATS = 20


class _Contest:
    """A sandbox, and a container of the engine's own, in which ``true`` is run again and again."""

    def __init__(self) -> None:
        self._sandbox: Sandbox | None = None
        self._container: Any = None

    def ours(self) -> Mapping[str, float]:
        if self._sandbox is None:
            self._sandbox = Sandbox.create(backend="docker")
        sandbox = self._sandbox
        return self._times(lambda: sandbox.exec("true").wait())

    def engine(self) -> Mapping[str, float]:
        import docker

        if self._container is None:
            self._container = docker.from_env().containers.run(
                image_name("python"),
                ["sleep", "infinity"],
                detach=True,
                network_mode="none",
                remove=True,
            )
        container = self._container
        return self._times(lambda: container.exec_run(["true"]).exit_code)

    @staticmethod
    def _times(run: Any) -> Mapping[str, float]:
        times = []
        for _ in range(_REPEATS):
            started = time.perf_counter()
            code = run()
            times.append(time.perf_counter() - started)
            if code != 0:
                raise CorrectnessError(f"true ended with {code}")
        return {"exec": statistics.median(times)}

    def close(self) -> None:
        if self._sandbox is not None:
            self._sandbox.destroy()
            self._sandbox = None
        if self._container is not None:
            self._container.remove(force=True)
            self._container.client.close()
            self._container = None


def races() -> list[Race]:
    """Return the races of this theme."""
    contest = _Contest()
    return [
        Race(
            name="docker programs",
            lanes={"ours": contest.ours, "engine": contest.engine},
            rows=(
                Row(
                    "`exec` of `true` in a running sandbox (docker)",
                    "ours.exec",
                    "engine.exec",
                    Target("times", 5),
                    compared_with="the engine's exec by its API",
                ),
            ),
            rounds=7,
            quick_rounds=2,
            finish=contest.close,
            missing=lambda: missing_engine("docker"),
        )
    ]
