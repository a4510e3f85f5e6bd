"""A program: grade samples with the code of another product, under its interpreter.

``python rival_graders.py evalplus|livecodebench|inspect [WORKERS]`` reads a JSON list of samples
from standard input. It writes whether each passes, a line each, and the seconds of all. EvalPlus
and inspect_ai are installed there; LiveCodeBench's checkout is in ``PYTHONPATH``. EvalPlus and
LiveCodeBench run the code in a process of their own, and isolate nothing. inspect_ai runs it in
containers of the image in ``INSPECT_IMAGE``, and has as many at a time as it chooses.
"""

import contextlib
import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

_SECONDS = 2
_MOST_S = 30.0


def _evalplus(sample: dict[str, Any]) -> bool:
    from evalplus.eval import PASS, untrusted_check

    cases = sample["cases"]
    status, _ = untrusted_check(
        "humaneval",
        sample["code"],
        [args for args, _ in cases],
        "f",
        [value for _, value in cases],
        atol=0,
        ref_time=[0.0] * len(cases),
        fast_check=True,
    )
    return bool(status == PASS)


def _run_livecodebench(sample: dict[str, Any], answer: Any, run_test: Callable[..., Any]) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    is_call = sample["kind"] == "call"
    cases = sample["cases"]
    if is_call:
        inputs = ["\n".join(map(json.dumps, args)) for args, _ in cases]
        outputs = [json.dumps(value) for _, value in cases]
    else:
        inputs, outputs = [given for given, _ in cases], [printed for _, printed in cases]
    problem = {"inputs": inputs, "outputs": outputs, "fn_name": "f" if is_call else None}
    results = run_test({"input_output": json.dumps(problem)}, sample["code"], timeout=_SECONDS)
    found = results[0] if results else []
    answer.send(bool(found) and all(result > 0 for result in found))


def _livecodebench(sample: dict[str, Any]) -> bool:
    # Here, as a process that cannot import it would count as a sample that fails.
    from lcb_runner.evaluation.testing_util import run_test

    near, far = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.Process(target=_run_livecodebench, args=(sample, far, run_test))
    process.start()
    far.close()
    passed = False
    # A process that ends without a verdict counts as a failure there.
    with contextlib.suppress(EOFError):
        passed = near.poll(_MOST_S) and near.recv()
    process.kill()
    process.join()
    return passed


def _grade(name: str, sample: dict[str, Any]) -> bool:
    try:
        return {"evalplus": _evalplus, "livecodebench": _livecodebench}[name](sample)
    except SystemExit:
        return False


_COMPOSE = """services:
  default:
    image: {image}
    x-local: true
    init: true
    command: tail -f /dev/null
    network_mode: none
"""


def _inspect(samples: list[dict[str, Any]]) -> list[bool]:
    """Grade samples by an evaluation, each in a container of its own."""
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, scorer
    from inspect_ai.solver import Generate, Solver, TaskState, solver
    from inspect_ai.util import sandbox

    @solver
    def no_model() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            return state

        return solve

    @scorer(metrics=[accuracy()])
    def passes() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            done = await sandbox().exec(["python3", "-c", target.text], timeout=int(_MOST_S))
            return Score(value=CORRECT if done.success else INCORRECT)

        return score

    with tempfile.TemporaryDirectory() as folder:
        compose = Path(folder) / "compose.yaml"
        compose.write_text(_COMPOSE.format(image=os.environ["INSPECT_IMAGE"]))
        programs = [
            "\n".join(
                [
                    one["code"],
                    *(f"assert f(*{args!r}) == {value!r}" for args, value in one["cases"]),
                ]
            )
            for one in samples
        ]
        task = Task(
            MemoryDataset([Sample("grade", target=one) for one in programs]),
            solver=no_model(),
            scorer=passes(),
            sandbox=("docker", str(compose)),
        )
        [log] = eval(task, model="mockllm/model", log_dir=folder, display="plain")
        if log.status != "success" or not log.samples:
            raise RuntimeError(f"inspect_ai: {log.status}: {log.error}")
        # Samples are read from the log's file when they are asked for.
        by_id = {one.id: one.scores["passes"].value for one in log.samples if one.scores}
    return [by_id[number] == CORRECT for number in range(1, len(samples) + 1)]


def main() -> int:
    """Grade what standard input has; return the exit code."""
    multiprocessing.set_start_method("fork")
    name, workers = sys.argv[1], int((sys.argv[2:] or ["1"])[0])
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what graders print is no part of the answer
    samples = json.load(sys.stdin)
    started = time.perf_counter()
    if name == "inspect":
        verdicts = _inspect(samples)
    elif workers > 1:
        with ProcessPoolExecutor(workers) as pool:
            verdicts = list(pool.map(_grade, [name] * len(samples), samples))
    else:
        verdicts = [_grade(name, sample) for sample in samples]
    seconds = time.perf_counter() - started
    print(*map(json.dumps, [*verdicts, seconds]), sep="\n", file=out, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
