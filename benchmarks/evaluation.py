"""Evaluation of generated code: samples per second, beside a fresh sandbox for each program."""

import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

from benchmarks.containers import missing_engine
from benchmarks.race import CorrectnessError, Race, Row, Target
from llm_sandbox.backends.bubblewrap.binary import find_bwrap
from llm_sandbox.evaluation import CallTest, Evaluator, Sample, StdioTest
from llm_sandbox.evaluation.engines.base import EngineName
from llm_sandbox.evaluation.engines.distributed_evaluator import DistributedEvaluator
from llm_sandbox.evaluation.kinds import Test

__all__ = ["races"]

_WORKERS = 2
_MANY, _FEW, _SCIENCE = 200, 40, 60
_DOUBLE = "print(2 * int(input()))"
_NUMPY = "import numpy; print(int(2 * numpy.int64(input())))"
_CALL = "def double(x): return 2 * x"


class _Ours:
    """An evaluator that is open for the whole race."""

    def __init__(self, preload: tuple[str, ...] = (), engine: EngineName | None = None) -> None:
        self._preload = preload
        self._engine = engine
        self._evaluator: Evaluator | DistributedEvaluator | None = None

    def time(self, code: str, tests: list[Test], count: int) -> float:
        """Return the seconds of a sample."""
        if self._evaluator is None:
            if self._engine is None:
                self._evaluator = Evaluator(
                    preload=self._preload, workers=_WORKERS, backend="bubblewrap"
                )
            else:
                self._evaluator = DistributedEvaluator(
                    self._engine, preload=self._preload, workers=_WORKERS, backend="bubblewrap"
                )
            self._rate(code, tests, _WORKERS)
        return self._rate(code, tests, count)

    def _rate(self, code: str, tests: list[Test], count: int) -> float:
        assert self._evaluator is not None
        samples = [Sample(str(number), code, tests=tests) for number in range(count)]
        started = time.perf_counter()
        for result in self._evaluator.map(samples):
            if not result.passed:
                raise CorrectnessError(f"sample {result.id}: {result.verdict} {result.error}")
        return (time.perf_counter() - started) / count

    def finish(self) -> None:
        """Close the evaluator."""
        if self._evaluator is not None:
            self._evaluator.close()
        self._evaluator = None


def _each(argv: list[str], count: int) -> float:
    """Return the seconds of a program that is started for each sample, two at a time."""

    def one(_: int) -> None:
        done = subprocess.run(argv, input=b"21\n", capture_output=True, check=False)
        if done.stdout != b"42\n":
            raise CorrectnessError(f"{argv} printed {done.stdout!r} {done.stderr!r}")

    with ThreadPoolExecutor(_WORKERS) as workers:
        started = time.perf_counter()
        list(workers.map(one, range(count)))
        return (time.perf_counter() - started) / count


def _bwrap(code: str) -> list[str]:
    return [
        str(find_bwrap(None).path),
        *("--unshare-all", "--die-with-parent", "--new-session"),
        *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"),
        *(sys.executable, "-I", "-c", code),
    ]


def _lane(name: str, measure: Callable[[], float]) -> Callable[[], Mapping[str, float]]:
    return lambda: {name: measure()}


class _Container:
    """A container in which `docker exec` runs each sample."""

    def __init__(self) -> None:
        self._name: str | None = None

    def time(self) -> float:
        """Return the seconds of a sample."""
        if self._name is None:
            from llm_sandbox.backends.recipes import image_name

            words = ["docker", "run", "--detach", "--rm", image_name("python"), "sleep", "infinity"]
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            self._name = done.stdout.strip()
        return _each(
            ["docker", "exec", "--interactive", self._name, "python3", "-c", _DOUBLE], _FEW
        )

    def finish(self) -> None:
        """Remove the container."""
        if self._name is not None:
            subprocess.run(["docker", "rm", "--force", self._name], capture_output=True, check=True)
        self._name = None


def races() -> list[Race]:
    """Return the races of this theme."""
    plain, science, container = _Ours(), _Ours(("numpy",)), _Container()
    on_ray = _Ours(engine="ray")
    stdio: list[Test] = [StdioTest("21\n", "42\n")]
    call: list[Test] = [CallTest("double", [21], expected=42)]

    def finish() -> None:
        plain.finish()
        science.finish()

    def finish_both() -> None:
        plain.finish()
        container.finish()

    def finish_engines() -> None:
        plain.finish()
        on_ray.finish()

    return [
        Race(
            name="evaluation",
            lanes={
                "ours": _lane("sample", lambda: plain.time(_DOUBLE, stdio, _MANY)),
                "one": _lane("call", lambda: plain.time(_CALL, call, _MANY)),
                "twenty": _lane("calls", lambda: plain.time(_CALL, call * 20, _FEW)),
                "numpy": _lane("sample", lambda: science.time(_NUMPY, stdio, _SCIENCE)),
                "stock": _lane("sample", lambda: _each(_bwrap(_DOUBLE), _FEW)),
                "stock_numpy": _lane("sample", lambda: _each(_bwrap(_NUMPY), 10)),
            },
            rows=(
                Row(
                    "sample with one input, two at a time",
                    "ours.sample",
                    "stock.sample",
                    Target("times", 3),
                    compared_with="bwrap python -c, each",
                ),
                Row(
                    "the same with numpy",
                    "numpy.sample",
                    "stock_numpy.sample",
                    Target("times", 15),
                    compared_with="bwrap python -c, each",
                ),
                Row(
                    "sample with 20 calls of a function",
                    "twenty.calls",
                    "one.call",
                    Target("share", 3),
                    compared_with="one call",
                ),
            ),
            rounds=7,
            quick_rounds=3,
            finish=finish,
        ),
        Race(
            name="evaluation beside docker",
            lanes={
                "ours": _lane("sample", lambda: plain.time(_DOUBLE, stdio, _MANY)),
                "docker": _lane("sample", container.time),
            },
            rows=(
                Row(
                    "sample with one input, two at a time",
                    "ours.sample",
                    "docker.sample",
                    Target("times", 15),
                    compared_with="docker exec python -c, each",
                ),
            ),
            rounds=5,
            quick_rounds=2,
            finish=finish_both,
            missing=lambda: missing_engine("docker"),
        ),
        Race(
            name="evaluation engines",
            lanes={
                "here": _lane("sample", lambda: plain.time(_DOUBLE, stdio, _MANY)),
                "ray": _lane("sample", lambda: on_ray.time(_DOUBLE, stdio, _MANY)),
            },
            rows=(
                Row(
                    "sample with one input, on Ray",
                    "ray.sample",
                    "here.sample",
                    Target("share", 1.25),
                    compared_with="two at a time in this process",
                ),
            ),
            rounds=5,
            quick_rounds=2,
            finish=finish_engines,
            missing=_missing_ray,
        ),
    ]


def _missing_ray() -> str | None:
    return None if find_spec("ray") else "ray is not installed"
