"""Engines: samples in processes and on clusters, with the results of this process."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import pytest

import llm_sandbox
from llm_sandbox.evaluation import (
    CallTest,
    CheckerTest,
    EvalLimits,
    Evaluator,
    Sample,
    StdioTest,
    Task,
    evaluate,
)
from llm_sandbox.evaluation.datasets import EXPECTED_FROM_REFERENCE
from llm_sandbox.evaluation.engines import (
    BatchWorker,
    DaskEngine,
    DistributedEvaluator,
    Engine,
    LocalEngine,
    RayEngine,
    TestedWorkers,
    distribute,
)
from llm_sandbox.evaluation.engines.messages import encode_setup
from llm_sandbox.exceptions import (
    BackendUnavailableError,
    MissingDependencyError,
    ValidationError,
)

pytestmark = pytest.mark.slow

LIMITS = EvalLimits(cpu_time=2, wall_time=8, memory="128m", output="1m", files="8m")
OPTIONS = {"limits": LIMITS, "backend": "bubblewrap"}
TASK = Task(
    id="double",
    tests=(
        CallTest("double", [21], expected=42),
        CallTest("double", [(1, 2)], expected=(1, 2) * 2),
    ),
    meta={"level": 1},
)
TEST = StdioTest("21", "42")
CODES = {
    "right": "print(2 * int(input()))",
    "wrong": "print(int(input()))",
    "crash": "1 / 0",
    "syntax": "print(",
}
SLOW = "import time; time.sleep(0.4); print(42)"


def samples(count: int, code: str = CODES["right"]) -> list[Sample]:
    return [Sample(f"sample/{index}", code, tests=[TEST]) for index in range(count)]


def facts(results):
    """Return what of results does not depend on where they were made."""
    kept = []
    for result in results:
        tests = tuple(
            replace(test, time_cpu=0, time_wall=0, memory_peak=0, contended=False, attempts=1)
            for test in result.tests
        )
        kept.append(replace(result, tests=tests, time_s=0, worker="", attempts=1))
    return sorted(kept, key=lambda result: result.id)


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def processes() -> set[int]:
    """Return the ids of the processes of local engines of this process."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
            if (
                int(parent) == os.getpid()
                and b"engines.worker_main" in (entry / "cmdline").read_bytes()
            ):
                found.add(int(entry.name))
    return found


@pytest.fixture
def local():
    """An engine of two processes, of which nothing is left."""
    engine = LocalEngine(2)
    yield engine
    engine.close()
    assert set() == processes()


@pytest.fixture
def evaluator(local):
    with DistributedEvaluator(local, **OPTIONS) as evaluator:
        yield evaluator


# --- results


def test_the_results_are_those_of_this_process(local):
    """A run on the engine has the verdicts, hashes and keys of one in this process."""
    given = [Sample(name, code, tests=[TEST]) for name, code in CODES.items()]
    given += [
        Sample("function", "def double(x): return 2 * x", task="double", meta={"n": 1}),
        Sample("other", "def double(x): return x", task="double"),
        Sample("answer", completion=f"Here:\n```python\n{CODES['right']}\n```\n", tests=[TEST]),
        Sample("default", CODES["right"]),
    ]
    here = evaluate(given, tasks=[TASK], tests=[TEST], progress_bar=False, **OPTIONS)
    there = evaluate(given, tasks=[TASK], tests=[TEST], progress_bar=False, engine=local, **OPTIONS)
    assert facts(here) == facts(there)
    workers = {result.worker for result in there}
    assert f"{os.uname().nodename}:{os.getpid()}" not in workers


def test_a_run_in_this_process_is_resumed_on_an_engine(tmp_path, local):
    path = tmp_path / "run.jsonl"
    first = evaluate(samples(3), results=path, progress_bar=False, **OPTIONS)
    both = evaluate(
        samples(5), results=path, resume=True, engine=local, progress_bar=False, **OPTIONS
    )
    assert 3 == len(first)
    assert 5 == len(both)
    assert {f"{os.uname().nodename}:{os.getpid()}"} == {result.worker for result in first}
    assert 3 == sum(result.worker.endswith(f":{os.getpid()}") for result in both)


def test_results_come_in_the_order_of_samples(evaluator):
    given = [
        Sample(f"sample/{index}", SLOW if index % 3 == 0 else CODES["right"], tests=[TEST])
        for index in range(12)
    ]
    found = list(evaluator.map(given, ordered=True))
    assert [one.id for one in given] == [one.id for one in found]
    assert all(one.passed for one in found)


def test_texts_that_no_file_can_hold_get_there(evaluator):
    given = Sample("one", 'print("\ud800" and 42)', tests=[TEST])
    (found,) = evaluator.map([given])
    with Evaluator(**OPTIONS) as here:
        assert facts([here.run(given)]) == facts([found])


def test_expected_values_of_references(local):
    """The reference runs on the workers, and the key is that of a run in this process."""
    test = CallTest("f", [3], expected=EXPECTED_FROM_REFERENCE)
    tasks = [
        Task(id="good", tests=(test,), reference="def f(x): return 2 * x"),
        Task(id="bad", tests=(test,), reference="def f(x): return x / 0"),
    ]
    given = [
        Sample(f"{task}/{code[-1]}", code, task=task)
        for task in ("good", "bad")
        for code in ("def f(x): return x * 2", "def f(x): return x")
    ]
    here = evaluate(given, tasks=tasks, progress_bar=False, **OPTIONS)
    there = evaluate(given, tasks=tasks, progress_bar=False, engine=local, **OPTIONS)
    assert facts(here) == facts(there)
    assert {"AC": 1, "WA": 1, "IE": 2} == {str(k): n for k, n in there.by_verdict().items()}


def test_an_engine_is_started_again(local):
    for _ in range(2):
        report = evaluate(samples(2), engine=local, progress_bar=False, **OPTIONS)
        assert 2 == sum(result.passed for result in report)


# --- back-pressure


def test_samples_are_taken_as_they_are_needed(evaluator):
    """No more is taken than two batches of each worker, however slowly results are consumed."""
    taken = []

    def endless():
        for index in range(10_000):
            taken.append(index)
            yield Sample(f"sample/{index}", CODES["right"], tests=[TEST])

    results = evaluator.map(endless())
    for _ in range(20):
        assert next(results).passed
    time.sleep(1.0)
    most = 20 + 2 * 2 * 64 + 64
    assert len(taken) <= most
    results.close()
    assert len(taken) <= most


def test_an_error_of_the_iterator_is_raised(evaluator):
    def broken():
        yield from samples(2)
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        list(evaluator.map(broken()))


# --- workers that are lost


def test_a_killed_worker_loses_nothing(local, evaluator):
    """Each sample has one result, and those of the killed process have more attempts."""
    given = samples(24, SLOW)
    found = []
    for result in evaluator.map(given):
        found.append(result)
        if len(found) == 2:
            os.kill(next(iter(local.process_ids().values())), signal.SIGKILL)
    assert sorted(one.id for one in given) == sorted(one.id for one in found)
    assert all(one.passed for one in found)
    assert {1, 2} == {one.attempts for one in found}


def test_all_workers_are_killed(local, evaluator):
    found = []
    for result in evaluator.map(samples(16, SLOW)):
        found.append(result)
        if len(found) == 2:
            for pid in local.process_ids().values():
                os.kill(pid, signal.SIGKILL)
    assert 16 == len({one.id for one in found}) == len(found)
    assert all(one.passed for one in found)


def test_a_worker_that_hangs_is_replaced(local):
    """Its samples go to others after the time of a batch, and it is killed."""
    setup = encode_setup({"backend": "bubblewrap"}, tasks={}, tests=None, limits=LIMITS)
    with (
        Evaluator(**OPTIONS) as here,
        TestedWorkers(local, setup) as workers,
    ):
        prepared = [here.prepare(sample) for sample in samples(10)]
        stopped = next(iter(local.process_ids().values()))
        os.kill(stopped, signal.SIGSTOP)
        found = list(distribute(prepared, workers, batch_timeout=10))
    assert 10 == len({one.id for one in found}) == len(found)
    assert all(one.passed for one in found)
    assert not alive(stopped)


class DyingEngine:
    """Engine of this process, whose workers are lost with what `dies` says."""

    def __init__(self, dies, names=("one", "two")):
        self.dies = dies
        self.names = names
        self.sent = []
        self.closed = False

    def start(self, setup):
        self.worker = BatchWorker(setup, 1)

    def workers(self):
        return self.names

    def submit(self, worker, batch):
        future: Future[bytes] = Future()
        self.sent.append((worker, batch))
        if self.dies(worker, batch):
            future.set_exception(ConnectionResetError("gone"))
        else:
            future.set_result(self.worker.answer(batch))
        return future

    def restart(self, worker):
        raise AssertionError(worker)

    def close(self):
        if not self.closed:
            self.worker.close()
        self.closed = True


def test_a_sample_that_ends_its_workers_is_an_infra_error():
    """It has no score after four workers were lost; those beside it have theirs."""
    engine = DyingEngine(lambda _, batch: b'"sample/3"' in batch)
    assert isinstance(engine, Engine)
    report = evaluate(samples(12), engine=engine, progress_bar=False, **OPTIONS)
    found = {result.id: result for result in report}
    assert 12 == len(found) == len(report)
    bad = found.pop("sample/3")
    assert ("IE", None, 4) == (bad.verdict, bad.score, bad.attempts)
    assert "ConnectionResetError: gone" in bad.error
    assert all(one.passed for one in found.values())
    assert engine.closed


def test_a_lost_batch_goes_to_another_worker():
    """The worker that lost it is not asked again while there is another one."""
    engine = DyingEngine(lambda worker, batch: worker == "one" and b"samples" in batch)
    report = evaluate(samples(6), engine=engine, progress_bar=False, **OPTIONS)
    assert all(result.passed for result in report)
    again = [worker for worker, batch in engine.sent if b"samples" in batch]
    assert again.count("one") <= 6
    assert {1, 2} == {result.attempts for result in report}


def test_a_failure_of_the_program_is_not_repeated(evaluator):
    (found,) = evaluator.map(samples(1, CODES["crash"]))
    assert ("RTE", 0.0, 1) == (found.verdict, found.score, found.attempts)


# --- the self-test


def test_a_worker_that_fails_its_self_test_is_left_out():
    engine = DyingEngine(lambda worker, batch: worker == "two")
    with DistributedEvaluator(engine, **OPTIONS) as evaluator:
        assert all(result.passed for result in evaluator.map(samples(3)))
        assert "ConnectionResetError: gone" in evaluator.left_out["two"]
    assert {"one"} == {worker for worker, batch in engine.sent if b"samples" in batch}


def test_no_worker_is_an_error_that_says_why():
    engine = DyingEngine(lambda worker, batch: True)
    with pytest.raises(BackendUnavailableError, match=r"one: .* gone; two: .* gone"):
        evaluate(samples(1), engine=engine, progress_bar=False, **OPTIONS)
    assert engine.closed


def test_an_invalid_option_is_no_fault_of_a_worker():
    engine = DyingEngine(lambda worker, batch: False)
    with pytest.raises(ValidationError, match="invalid repeat"):
        evaluate(samples(1), engine=engine, repeat=0, progress_bar=False, **OPTIONS)
    assert engine.closed


def test_candidates_see_nothing_of_the_engine(local, monkeypatch):
    monkeypatch.setenv("RAY_ADDRESS", "secret:1")
    code = "import os; print(*[name for name in os.environ if name.startswith('RAY')], 42)"
    code += "\nprint(*[fd for fd in map(int, os.listdir('/proc/self/fd')) if fd > 3])"
    (result,) = evaluate(samples(1, code), engine=local, progress_bar=False, **OPTIONS)
    assert result.passed, result.tests[0].stdout_tail


# --- what cannot be sent


def test_a_function_as_checker_is_refused():
    test = CheckerTest(lambda _input, _output, _answer: True)
    for arguments in (
        {"samples": [Sample("one", "print(1)", tests=[test])]},
        {"samples": samples(1), "tasks": [Task(id="task", tests=(test,))]},
        {"samples": samples(1), "tests": [test]},
    ):
        with pytest.raises(ValidationError, match=r"another process.*function") as failure:
            evaluate(engine=LocalEngine(1), progress_bar=False, **arguments, **OPTIONS)
        assert "engine=None" in failure.value.hint


def test_a_field_that_is_no_json_is_refused():
    sample = Sample("one", "print(1)", tests=[TEST], meta={"what": object()})
    with pytest.raises(ValidationError, match="'one' cannot be sent"):
        evaluate([sample], engine=LocalEngine(1), progress_bar=False, **OPTIONS)


@pytest.mark.parametrize(
    ("engine", "workers"), [("cluster", "auto"), (object(), "auto"), (LocalEngine(1), 2)]
)
def test_invalid_engines(engine, workers):
    with pytest.raises(ValidationError, match=r"invalid (engine|workers)"):
        evaluate(samples(1), engine=engine, workers=workers, progress_bar=False, **OPTIONS)


@pytest.mark.parametrize("number", [0, -1, True, 1.5])
def test_invalid_numbers(number):
    with pytest.raises(ValidationError, match="expected at least 1"):
        LocalEngine(number)
    with pytest.raises(ValidationError, match="expected at least 1"):
        RayEngine(cpus=number)
    with pytest.raises(ValidationError, match="expected at least 1"):
        DaskEngine(cpus=number)


# --- clusters


@pytest.mark.parametrize(("engine", "package"), [("ray", "ray"), ("dask", "distributed")])
def test_the_package_of_an_engine_is_missing(monkeypatch, engine, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependencyError, match=f"{package} is not installed"):
        evaluate(samples(1), engine=engine, progress_bar=False, **OPTIONS)


@pytest.fixture(scope="module")
def ray(tmp_path_factory):
    """A cluster of this machine, whose token is not written into the user's home."""
    import ray

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("PYTHONPATH", str(Path(llm_sandbox.__file__).parents[1]))
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        yield ray
        ray.shutdown()


class TestRay:
    def test_the_results_are_those_of_this_process(self, ray):
        given = [Sample(name, code, tests=[TEST]) for name, code in CODES.items()]
        here = evaluate(given, progress_bar=False, **OPTIONS)
        there = evaluate(given, engine="ray", progress_bar=False, **OPTIONS)
        assert facts(here) == facts(there)
        assert ray.is_initialized()

    @pytest.mark.parametrize("what", ["actor", "process"])
    def test_a_killed_worker_loses_nothing(self, ray, what):
        """Neither the end of the actor nor that of its process."""
        found = []
        with DistributedEvaluator(RayEngine(cpus=2), **OPTIONS) as evaluator:
            for result in evaluator.map(samples(20, SLOW)):
                found.append(result)
                if len(found) == 2:
                    pid = int(result.worker.rpartition(":")[2])
                    os.kill(parent_of(pid) if what == "actor" else pid, signal.SIGKILL)
        assert 20 == len({one.id for one in found}) == len(found)
        assert all(one.passed for one in found)


class TestDask:
    @pytest.fixture
    def client(self, tmp_path):
        import distributed

        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=tmp_path
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client

    def test_the_results_are_those_of_this_process(self, client):
        given = [Sample(name, code, tests=[TEST]) for name, code in CODES.items()]
        here = evaluate(given, progress_bar=False, **OPTIONS)
        there = evaluate(given, engine=DaskEngine(client), progress_bar=False, **OPTIONS)
        assert facts(here) == facts(there)
        assert "running" == client.status

    @pytest.mark.parametrize("known_by", ["client", "address"])
    def test_a_cluster_that_is_not_named_is_that_of_this_process(self, known_by, tmp_path):
        """A cluster of the engine's own would have one worker."""
        import dask
        import distributed

        is_default = known_by == "client"
        with (
            distributed.LocalCluster(
                n_workers=2, processes=False, dashboard_address=None, local_directory=tmp_path
            ) as cluster,
            distributed.Client(cluster, set_as_default=is_default) as client,
            dask.config.set({} if is_default else {"scheduler-address": cluster.scheduler_address}),
        ):
            engine = DaskEngine()
            engine.start(b"")
            names = engine.workers()
            engine.close()
            assert set(client.scheduler_info()["workers"]) == set(names)
            assert "running" == client.status

    def test_a_killed_worker_loses_nothing(self, client):
        found = []
        with DistributedEvaluator(DaskEngine(client), **OPTIONS) as evaluator:
            for result in evaluator.map(samples(16, SLOW)):
                found.append(result)
                if len(found) == 2:
                    os.kill(int(result.worker.rpartition(":")[2]), signal.SIGKILL)
        assert 16 == len({one.id for one in found}) == len(found)
        assert all(one.passed for one in found)
