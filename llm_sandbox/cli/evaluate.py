"""`llm-sandbox evaluate`: evaluation of the samples of a file."""

import json
import signal
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

from llm_sandbox.cli.exit_codes import exit_codes, usage_error
from llm_sandbox.cli.grammar import Argument, Command, Option
from llm_sandbox.cli.render import say

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from llm_sandbox.evaluation import Report, Task
    from llm_sandbox.evaluation.datasets import DatasetFormat, OnError, Problem
    from llm_sandbox.evaluation.engines import EngineName

__all__ = ["EVALUATE", "EngineChoice", "Score", "evaluate"]

_SOME_UNSCORED = 3
_EPILOG = (
    "Exit code: 0 when every sample has a score, 3 when the sandbox failed for some of them, 125 "
    "when the evaluation failed, 130 after Ctrl-C, 2 for a mistake on the command line. Results in "
    "--out are kept in every case, and --resume goes on."
)


class EngineChoice(StrEnum):
    """Engine that evaluates the samples, beside this process."""

    LOCAL = "local"
    RAY = "ray"
    DASK = "dask"
    HTTP = "http"


class Score(StrEnum):
    """Policy by which a score is made of tests."""

    ALL = "all"
    FRACTION = "fraction"
    WEIGHTED = "weighted"
    GROUPS = "groups"


def evaluate(
    samples: Annotated[
        Path, Argument(help="Samples as JSON lines: code or completions.", metavar="SAMPLES")
    ],
    dataset: Annotated[
        Path | None,
        Option(
            "--dataset",
            "-d",
            help="Tasks with their tests: HumanEval, MBPP, EvalPlus, LiveCodeBench, APPS and "
            "others, recognised by their fields; without it, the samples have tests themselves.",
            metavar="FILE",
        ),
    ] = None,
    form: Annotated[
        str | None,
        Option(
            "--format", help="Format of the dataset, if its fields do not tell.", metavar="NAME"
        ),
    ] = None,
    out: Annotated[
        Path | None,
        Option("--out", "-o", help="Write results as JSON lines, as they come.", metavar="FILE"),
    ] = None,
    resume: Annotated[
        bool, Option("--resume", help="Go on with the results in --out; what is done stays.")
    ] = False,
    overwrite: Annotated[bool, Option("--overwrite", help="Replace the results in --out.")] = False,
    k: Annotated[str, Option("--k", help="Numbers of tries for pass@k.", metavar="N,N")] = "1",
    html: Annotated[
        Path | None, Option("--html", help="Write a report as one HTML file.", metavar="FILE")
    ] = None,
    junit: Annotated[
        Path | None, Option("--junit", help="Write a report as JUnit XML.", metavar="FILE")
    ] = None,
    lang: Annotated[
        str,
        Option("--lang", "-l", help="Language of samples that name none.", metavar="NAME"),
    ] = "python",
    cpu_time: Annotated[
        float, Option("--cpu-time", help="CPU seconds of a test.", metavar="S")
    ] = 5.0,
    wall_time: Annotated[
        float | None,
        Option(
            "--wall-time",
            help="Seconds of a test by the clock; without it, three times the CPU time and 2.",
            metavar="S",
        ),
    ] = None,
    memory: Annotated[str, Option("--memory", help="Memory of a test.", metavar="SIZE")] = "512m",
    preload: Annotated[
        list[str] | None,
        Option(
            "--preload",
            help="Library of Python that samples find loaded, such as numpy; may be repeated.",
            metavar="NAME",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        Option("--workers", "-j", help="Tests at the same time; one for each CPU.", metavar="N"),
    ] = None,
    engine: Annotated[
        EngineChoice | None,
        Option(
            "--engine",
            help="Evaluate in processes of this computer, or on a cluster of Ray or Dask: the one "
            "that RAY_ADDRESS or DASK_SCHEDULER_ADDRESS names, otherwise one of this computer.",
        ),
    ] = None,
    score: Annotated[Score, Option("--score", help="How a score is made of tests.")] = Score.ALL,
    repeat: Annotated[
        int, Option("--repeat", help="Evaluations of each sample, to find flaky ones.", metavar="N")
    ] = 1,
    policy: Annotated[
        str | None,
        Option(
            "--policy",
            help="Security policy: what it refuses does not run, and has the verdict SV.",
            metavar="PRESET|FILE",
        ),
    ] = None,
    backend: Annotated[
        str | None, Option("--backend", "-b", help="Backend of the sandboxes.", metavar="NAME")
    ] = None,
    validate: Annotated[
        bool,
        Option(
            "--validate",
            help="First run the reference solutions of the dataset, and leave out tasks whose own "
            "does not pass here.",
        ),
    ] = False,
    skip_bad: Annotated[
        bool, Option("--skip-bad", help="Skip lines that cannot be read; they are named.")
    ] = False,
    reveal: Annotated[
        bool, Option("--reveal", help="Show what hidden tests expect in reports.")
    ] = False,
    as_json: Annotated[bool, Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Run the tests of many samples, and say which pass."""
    try:
        ks = [int(word) for word in k.split(",")]
    except ValueError:
        usage_error(f"invalid --k: expected numbers such as 1,10, got {k!r}")
    if (resume or overwrite) and out is None:
        usage_error(f"{'--resume' if resume else '--overwrite'} needs --out FILE")
    if (form is not None or validate) and dataset is None:
        usage_error(f"{'--validate' if validate else '--format'} needs --dataset FILE")
    with exit_codes(as_json=as_json):
        from llm_sandbox.evaluation import EvalLimits
        from llm_sandbox.evaluation import evaluate as run
        from llm_sandbox.evaluation.datasets import load_dataset, load_samples
        from llm_sandbox.evaluation.validation import valid_tasks
        from llm_sandbox.security.policy_file import find_policy

        on_error: OnError = "skip" if skip_bad else "raise"
        limits = EvalLimits(cpu_time=cpu_time, wall_time=wall_time, memory=memory)
        tasks: Mapping[str, Task] = {}
        failed: Mapping[str, str] = {}
        if dataset is not None:
            found = load_dataset(dataset, cast("DatasetFormat | None", form), on_error=on_error)
            _say_problems(dataset, found.problems)
            tasks = found
        libraries = tuple(preload or ())
        count: int | Literal["auto"] = "auto" if workers is None else workers
        engine_name = cast("EngineName | None", engine)
        if validate:
            _, failed = valid_tasks(
                tasks,
                limits=limits,
                preload=libraries,
                workers=count,
                backend=backend,
                engine=engine_name,
            )
            for task, reason in failed.items():
                say(f"left out task {task} and its samples: its reference {reason}")
        given = load_samples(samples, tasks=tasks or None, on_error=on_error)
        # There is something to tidy up now: what is being written, and a cluster.
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            report = run(
                (sample for sample in given if sample.task not in failed),
                tasks=tasks,
                language=lang,
                score=score.value,
                repeat=repeat,
                limits=limits,
                preload=libraries,
                workers=count,
                security_policy=None if policy is None else find_policy(policy),
                backend=backend,
                engine=engine_name,
                results=out,
                resume=resume,
                overwrite=overwrite,
            )
        except KeyboardInterrupt:
            if out is None:
                say("interrupted", "--out FILE keeps the results that are there")
            else:
                say(f"interrupted: what is done is in {out}", "--resume goes on with it")
            raise
        _say_problems(samples, given.problems)
        if html is not None:
            report.to_html(html, reveal=reveal)
        if junit is not None:
            report.to_junit(junit, reveal=reveal)
        _print(report, ks, as_json=as_json)
    raise SystemExit(_SOME_UNSCORED if report.unscored else 0)


def _say_problems(path: Path, problems: "Iterable[Problem]") -> None:
    for problem in problems:
        say(f"{path}, line {problem.line}: {problem.message}")


def _print(report: "Report", ks: list[int], *, as_json: bool) -> None:
    passed = report.pass_at_k(ks)
    if as_json:
        document = {
            "type": "evaluation",
            "samples": len(report),
            "unscored": report.unscored,
            "score": report.score(),
            "verdicts": {str(verdict): count for verdict, count in report.by_verdict().items()},
            "pass_at_k": {
                str(number): {"value": found.value, "low": found.low, "high": found.high}
                for number, found in passed.items()
            },
        }
        print(json.dumps(document))
        return
    print(report)
    for number, found in passed.items():
        print(f"pass@{number}: {found}")
    sys.stdout.flush()


EVALUATE = Command(evaluate, epilog=_EPILOG)
