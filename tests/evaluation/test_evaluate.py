"""Sets of samples: journal, resuming, order, failures, and what is left."""

import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from llm_sandbox.backends.hardening.cgroups import CgroupTree
from llm_sandbox.evaluation import (
    AssertTest,
    AsyncEvaluator,
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
from llm_sandbox.evaluation.validation import valid_tasks
from llm_sandbox.exceptions import SandboxFileExistsError, UnsupportedError, ValidationError
from llm_sandbox.security import get_security_policy

TEST = StdioTest("21\n", "42\n")
RIGHT, WRONG = "print(2 * int(input()))", "print(1)"
LIMITS = EvalLimits(cpu_time=2, memory="256m")


def options(**more):
    return {"limits": LIMITS, "backend": "bubblewrap", "workers": 2, "progress_bar": False, **more}


def samples(count):
    return [Sample(str(n), RIGHT if n % 2 else WRONG, tests=[TEST]) for n in range(count)]


def verdicts(report):
    return {result.id: str(result.verdict) for result in report}


def test_every_sample_has_one_result():
    report = evaluate(samples(40), **options())
    assert {str(n): "AC" if n % 2 else "WA" for n in range(40)} == verdicts(report)
    assert 0.5 == report.score()


def test_results_are_written_and_resumed(tmp_path):
    path = tmp_path / "run.jsonl"
    first = evaluate(samples(10), **options(results=path))
    lines = path.read_text().splitlines()
    with pytest.raises(SandboxFileExistsError, match="resume"):
        evaluate(samples(10), **options(results=path))
    again = evaluate(samples(14), **options(results=path, resume=True))
    assert verdicts(first) == {name: verdicts(again)[name] for name in verdicts(first)}
    assert lines == path.read_text().splitlines()[: len(lines)]
    assert len(lines) + 4 == len(path.read_text().splitlines())


def test_changed_code_is_evaluated_again(tmp_path):
    path = tmp_path / "run.jsonl"
    evaluate([Sample("one", WRONG, tests=[TEST])], **options(results=path))
    report = evaluate([Sample("one", RIGHT, tests=[TEST])], **options(results=path, resume=True))
    assert {"one": "AC"} == verdicts(report)


RUN = """
import sys
from llm_sandbox.evaluation import EvalLimits, Sample, StdioTest, evaluate
tests = [StdioTest("21", "42")]
codes = ["print(2 * int(input()))", "print(1)", "import time; time.sleep(0.05); print(42)"]
samples = [Sample(str(n), codes[n % 3], tests=tests) for n in range(60)]
report = evaluate(samples, limits=EvalLimits(cpu_time=2), backend="bubblewrap", workers=2,
                  results=sys.argv[1], resume=True, progress_bar=False)
print(sorted((result.id, str(result.verdict)) for result in report))
"""


def start(path):
    return subprocess.Popen(
        [sys.executable, "-c", RUN, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def lines_of(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.slow
@pytest.mark.parametrize("after", [3, 40])
def test_a_killed_run_goes_on(tmp_path, after):
    """SIGKILL of the host process: nothing is lost, nothing is counted twice, nothing runs on."""
    path = tmp_path / "run.jsonl"
    with start(path) as killed:
        deadline = time.monotonic() + 60
        while lines_of(path) <= after and killed.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        killed.send_signal(signal.SIGKILL)
    with start(path) as again, start(tmp_path / "whole.jsonl") as other:
        done, words = again.communicate(timeout=100)
        whole, _ = other.communicate(timeout=100)
    assert whole == done, words
    assert 60 == len({json.loads(line)["id"] for line in path.read_text().splitlines()[1:]})


def test_ctrl_c_keeps_what_is_done(tmp_path):
    path = tmp_path / "run.jsonl"
    with start(path) as process:
        deadline = time.monotonic() + 60
        while lines_of(path) <= 5:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert lines_of(path) > 5
    assert all(json.loads(line) for line in path.read_text().splitlines())


def test_a_killed_sandbox_host_costs_no_verdict():
    """The processes behind the sandboxes die in the middle: the samples are evaluated again."""
    with Evaluator(limits=LIMITS, backend="bubblewrap", workers=2) as evaluator:
        results = []
        for number, result in enumerate(evaluator.map(samples(40))):
            results.append(result)
            if number in (5, 20):
                for hosts in list(evaluator._backend._runner_hosts.values()):
                    for host in hosts:
                        host.connection.close()
    assert 40 == len(results)
    assert {"AC", "WA"} == {str(result.verdict) for result in results}


def test_a_lost_sandbox_of_assertions_is_replaced():
    """It is kept from sample to sample: its loss costs one attempt, and no verdict."""
    sample = Sample("add", "def f(x): return x + 1", tests=[AssertTest("assert f(1) == 2")])
    with Evaluator(limits=LIMITS, backend="bubblewrap", workers=1) as evaluator:
        attempts = []
        for _ in range(3):
            result = evaluator.run(sample)
            assert result.passed, result.error
            attempts.append(result.attempts)
            if len(attempts) == 1:
                for hosts in evaluator._backend._runner_hosts.values():
                    for host in hosts:
                        host.connection.close()
    assert [1, 2, 1] == attempts


def test_a_control_group_that_cannot_be_made_is_a_failure_of_the_sandbox(monkeypatch):
    """As when a supervisor ends, and its group with it, while a machine is made."""
    with Evaluator(limits=LIMITS, backend="bubblewrap", workers=1, retries=1) as evaluator:
        one, two = samples(2)
        assert evaluator.run(one).score is not None
        gone = CgroupTree(1, {"memory": Path("/proc/self/gone")})
        monkeypatch.setattr(evaluator._backend, "_tree", gone)
        result = evaluator.run(two)
    assert ("IE", None, 2) == (result.verdict, result.score, result.attempts)
    assert "the sandbox could not be made: [Errno 2] No such file" in result.error


def test_few_samples_are_taken_ahead():
    taken = []

    def stream():
        for sample in samples(1000):
            taken.append(sample.id)
            yield sample

    with Evaluator(limits=LIMITS, backend="bubblewrap", workers=2) as evaluator:
        results = evaluator.map(stream())
        for _ in range(3):
            next(results)
        results.close()
    assert len(taken) <= 3 + 8 + 2


def test_results_in_order():
    codes = ["import time; time.sleep(0.3); print(42)", RIGHT, RIGHT, RIGHT]
    with Evaluator(limits=LIMITS, backend="bubblewrap", workers=2) as evaluator:
        given = [Sample(str(n), code, tests=[TEST]) for n, code in enumerate(codes)]
        ordered = [result.id for result in evaluator.map(given, ordered=True)]
    assert ["0", "1", "2", "3"] == ordered


def test_an_error_of_the_stream_of_samples_is_raised():
    def stream():
        yield from samples(3)
        raise OSError("the file is gone")

    with (
        Evaluator(limits=LIMITS, backend="bubblewrap", workers=2) as evaluator,
        pytest.raises(OSError, match="the file is gone"),
    ):
        list(evaluator.map(stream()))


def test_threads_share_an_evaluator():
    with Evaluator(limits=LIMITS, backend="bubblewrap", workers=2) as evaluator:
        found = []
        threads = [
            threading.Thread(
                target=lambda n=n: found.append((n, evaluator.run(samples(4)[n]).score))
            )
            for n in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert [(0, 0.0), (1, 1.0), (2, 0.0), (3, 1.0)] == sorted(found)


def test_awaitable():
    import asyncio

    async def main():
        async with AsyncEvaluator(Evaluator(limits=LIMITS, backend="bubblewrap")) as evaluator:
            one = await evaluator.run(samples(2)[1])
            many = [result.id async for result in evaluator.map(samples(6), ordered=True)]
            return one.score, many

    assert (1.0, list("012345")) == asyncio.run(main())


def test_a_cancelled_stream_ends():
    import asyncio

    async def main():
        async with AsyncEvaluator(Evaluator(limits=LIMITS, backend="bubblewrap")) as evaluator:

            async def consume():
                async for _ in evaluator.map(samples(10_000)):
                    pass

            task = asyncio.create_task(consume())
            await asyncio.sleep(0.5)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())
    names = [thread.name for thread in threading.enumerate()]
    assert "llm-sandbox-evaluate" not in names


# --- scores


@pytest.mark.parametrize(
    ("policy", "score"), [("all", 0.0), ("fraction", 0.5), ("weighted", 0.75), ("groups", 0.75)]
)
def test_policies_of_scores(policy, score):
    tests = [
        StdioTest("1", "1", weight=3, group="easy"),
        StdioTest("2", "5", weight=1, group="hard"),
    ]
    report = evaluate([Sample("one", "print(input())", tests=tests)], **options(score=policy))
    assert score == report.score()


def test_a_group_has_the_points_of_its_worst_test():
    tests = [StdioTest("1", "1", group="a"), StdioTest("2", "5", group="a")]
    report = evaluate([Sample("one", "print(input())", tests=tests)], **options(score="groups"))
    assert 0.0 == report.score()


# --- tasks


def test_tasks_have_tests_setup_and_prefix():
    task = Task(
        id="half",
        tests=[CallTest("half", [3], expected=1.5)],
        setup="import math",
        prefix='def half(x):\n    """Return half of x."""\n',
        entry_point="half",
    )
    given = [
        Sample("rest", completion="    return math.fsum([x]) / 2\n", task="half"),
        Sample("whole", completion="```python\ndef half(x):\n    return x / 2\n```", task="half"),
        Sample("wrong", completion="    return x\n", task="half"),
    ]
    report = evaluate(given, tasks=[task], **options())
    assert {"rest": "AC", "whole": "AC", "wrong": "WA"} == verdicts(report)


def test_expected_values_of_a_reference(tmp_path, monkeypatch):
    calls = [CallTest("f", [n], expected=EXPECTED_FROM_REFERENCE) for n in range(3)]
    good = Task(id="good", tests=calls, reference="def f(x): return x * x")
    bad = Task(id="bad", tests=calls, reference="def f(x): return 1 / x")
    given = [
        Sample("right", "def f(x): return x ** 2", task="good"),
        Sample("wrong", "def f(x): return x", task="good"),
        Sample("unknown", "def f(x): return x", task="bad"),
    ]
    report = evaluate(given, tasks=[good, bad], **options())
    assert {"right": "AC", "wrong": "WA", "unknown": "IE"} == verdicts(report)
    (left_out,) = [result for result in report if result.id == "unknown"]
    assert "the reference of task 'bad' failed" in left_out.error
    assert "ZeroDivisionError" in left_out.error


def test_tasks_whose_reference_does_not_pass_are_left_out():
    tasks = [
        Task(id="good", tests=[TEST], reference=RIGHT),
        Task(id="bad", tests=[TEST], reference="import no_such_library"),
        Task(id="without", tests=[TEST]),
    ]
    valid, failed = valid_tasks(tasks, limits=LIMITS, backend="bubblewrap")
    assert ["good", "without"] == list(valid)
    assert ["bad"] == list(failed)
    assert "no_such_library" in failed["bad"]


def test_methods_of_solution_and_functions_alike():
    given = [
        Sample("function", "def f(x): return x", tests=[CallTest("Solution().f", [1], expected=1)]),
        Sample(
            "method",
            "class Solution:\n    def f(self, x): return x",
            tests=[CallTest("f", [1], expected=1)],
        ),
    ]
    assert {"function": "AC", "method": "AC"} == verdicts(evaluate(given, **options()))


def test_a_policy_refuses_code_before_it_runs(tmp_path):
    policy = get_security_policy("strict")
    given = [
        Sample("bad", "import os; os.system('true'); print(42)", tests=[TEST, TEST]),
        Sample("good", "print(42)", tests=[TEST]),
    ]
    report = evaluate(given, **options(security_policy=policy))
    assert {"bad": "SV", "good": "AC"} == verdicts(report)


def test_flaky_samples_are_found():
    code = "import os\nprint(42 if os.urandom(1)[0] % 2 else 0)"
    report = evaluate([Sample("one", code, tests=[TEST])], **options(repeat=12))
    (result,) = report
    assert result.flaky
    assert {"AC", "WA"} == {str(verdict) for verdict in result.verdicts}


def test_random_numbers_and_hashes_are_the_same_each_time():
    code = "import random\nprint(random.random(), hash('a'), list({'a', 'b', 'c', 'd'}))"
    seen = []
    from llm_sandbox.evaluation import CheckerTest

    test = CheckerTest(lambda given, output, answer: seen.append(output) or True)
    for _ in range(2):
        evaluate([Sample("one", code, tests=[test])], **options(repeat=2))
    assert 1 == len(set(seen))


def test_random_numbers_of_calls_are_the_same_each_time():
    code = "import random\ndef f():\n    print(random.random())\n    return 42"
    test = CallTest("f", [], expected=42)
    reports = [evaluate([Sample("one", code, tests=[test] * 2)], **options()) for _ in range(2)]
    printed = {one.stdout_tail for report in reports for result in report for one in result.tests}
    assert 1 == len(printed)
    assert 0 < float(printed.pop()) < 1


# --- mistakes


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (lambda: evaluate([Sample("a", RIGHT)], **options()), "expected tests or a task"),
        (lambda: evaluate([Sample("a", tests=[TEST])], **options()), "either code or completion"),
        (lambda: evaluate([Sample("a", RIGHT, task="x")], **options()), "invalid task"),
        (lambda: evaluate(samples(1) * 2, **options()), "'0' twice"),
        (lambda: evaluate([], **options(workers=0)), "invalid workers"),
        (lambda: evaluate([], **options(repeat=0)), "invalid repeat"),
        (lambda: EvalLimits(cpu_time=0), "invalid cpu_time"),
        (
            lambda: evaluate(
                [Sample("a", RIGHT, tests=[StdioTest("", "", checker="fuzzy")])], **options()
            ),
            "fuzzy",
        ),
        (
            lambda: evaluate(
                [Sample("a", "x", language="bash", tests=[CallTest("f")])], **options()
            ),
            "expected python",
        ),
    ],
)
def test_mistakes_are_named(given, words):
    with pytest.raises(ValidationError, match=words):
        given()


def test_a_checker_that_raises_says_nothing_about_the_program():
    for checker in (lambda *_: 1 / 0, "import sys; sys.exit(3)", "not a program"):
        report = evaluate([Sample("a", RIGHT, tests=[CheckerTest(checker, "1")])], **options())
        (result,) = report
        assert ("IE", None, 1) == (result.verdict, result.score, result.attempts)
        assert "checker" in result.error


@pytest.mark.parametrize(
    ("language", "crash", "wrong"),
    [
        ("python", "raise ValueError", "raise SystemExit(1)"),
        ("javascript", "throw new Error('x')", "process.exit(1)"),
        (
            "java",
            "public class Main { public static void main(String[] a) { throw new Error(); } }",
            "public class Main { public static void main(String[] a) { System.exit(1); } }",
        ),
        (
            "go",
            'package main\nfunc main() { panic("x") }',
            'package main\nimport "os"\nfunc main() { os.Exit(1) }',
        ),
    ],
)
def test_a_checker_that_crashes_gives_no_verdict(language, crash, wrong):
    """An uncaught exception has the exit code of a wrong answer in most languages."""
    given = [
        Sample(name, RIGHT, tests=[CheckerTest(code, "1", language=language)])
        for name, code in (("crash", crash), ("wrong", wrong))
    ]
    assert {"crash": "IE", "wrong": "WA"} == verdicts(evaluate(given, **options()))


@pytest.mark.parametrize(
    "backend",
    [
        pytest.param("docker", marks=pytest.mark.engine("docker", image="bash")),
        pytest.param("podman", marks=pytest.mark.engine("podman", image="bash")),
    ],
)
def test_an_image_without_python_is_refused(backend):
    """Each sample runs in the image of its language; that of bash has no Python for the runner."""
    given = [Sample("right", "echo 42", language="bash", tests=[TEST])]
    with pytest.raises(UnsupportedError, match="which the image does not have"):
        evaluate(given, **options(backend=backend))


def test_a_backend_without_isolation_is_refused():
    with pytest.raises(UnsupportedError, match="isolates nothing"):
        Evaluator(backend="local")


@pytest.mark.slow
def test_a_full_disk_loses_no_finished_result(tmp_path):
    """A limit of the size of files is a disk that is full for this process alone."""
    path = tmp_path / "run.jsonl"
    script = f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (12_000, 12_000))\n{RUN}"
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, timeout=100
    )
    assert 0 != done.returncode
    before = [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]
    assert len(before) > 1
    out, words = start(path).communicate(timeout=100)
    assert 0 < len(out), words
    assert 60 == out.count(b"('")
