"""A program: grade samples with the comparison code of another product, under its interpreter.

``python rival_graders.py evalplus|livecodebench`` reads a JSON list of samples from standard input
and writes whether each passes. EvalPlus is installed there; LiveCodeBench's checkout is in
``PYTHONPATH``. Both run the code in a process of their own, and isolate nothing.
"""

import contextlib
import json
import multiprocessing
import os
import sys
from collections.abc import Callable
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


def main() -> int:
    """Grade what standard input has; return the exit code."""
    multiprocessing.set_start_method("fork")
    grade = {"evalplus": _evalplus, "livecodebench": _livecodebench}[sys.argv[1]]
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what graders print is no part of the answer
    for sample in json.load(sys.stdin):
        try:
            passed = grade(sample)
        except SystemExit:
            passed = False
        print(json.dumps(passed), file=out, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
