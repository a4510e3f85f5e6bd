"""Evaluation of a small data set: verdicts, pass@k, a report, and the comparison of two models.

The tasks are in the format of HumanEval, the samples in that of its completions. `python grade.py`
writes its results into the current folder, and goes on with them when it is started again.
"""

from pathlib import Path

from llm_sandbox.evaluation import EvalLimits, Report, compare, evaluate, valid_tasks
from llm_sandbox.evaluation.datasets import load_dataset, load_samples

HERE = Path(__file__).parent
LIMITS = EvalLimits(cpu_time=2, memory="256m")


def grade(model: str) -> Report:
    dataset = load_dataset(HERE / "tasks.jsonl")
    tasks, failed = valid_tasks(dataset, limits=LIMITS)
    for task, reason in failed.items():
        print(f"left out {task}: its reference {reason}")
    samples = load_samples(HERE / f"{model}.jsonl", tasks=dataset)
    report = evaluate(
        (sample for sample in samples if sample.task in tasks),
        tasks=tasks,
        limits=LIMITS,
        results=f"{model}-results.jsonl",
        resume=True,
    )
    print(f"{model}:", *(f"{verdict} {count}" for verdict, count in report.by_verdict().items()))
    for k, estimate in report.pass_at_k([1, 2]).items():
        print(f"  pass@{k}: {estimate}")
    report.to_html(f"{model}.html")
    return report


def main() -> None:
    print(compare(grade("small"), grade("large")))


if __name__ == "__main__":
    main()
