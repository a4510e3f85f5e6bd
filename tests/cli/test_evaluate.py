"""`llm-sandbox evaluate`: what is written, what is printed, and the exit code."""

from __future__ import annotations

import json
import signal
import time
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Done, Family  # for the type checker only

pytestmark = pytest.mark.slow

TASK = {
    "task_id": "double",
    "prompt": 'def double(x):\n    """Return twice x."""\n',
    "entry_point": "double",
    "canonical_solution": "    return 2 * x\n",
    "test": "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(3) == 6\n",
}
BROKEN = {**TASK, "task_id": "broken", "canonical_solution": "    return x\n"}
COMPLETIONS = {"right": "    return 2 * x\n", "wrong": "    return x ** 2\n"}


def write(path: Path, records: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """Names of files with samples and with their task."""
    samples: list[dict[str, object]] = [
        {"task_id": "double", "completion": completion} for completion in COMPLETIONS.values()
    ]
    write(tmp_path / "samples.jsonl", samples)
    write(tmp_path / "tasks.jsonl", [TASK])
    return "samples.jsonl", "tasks.jsonl"


@pytest.mark.parametrize("engine", [(), ("--engine", "local", "-j", "1")])
def test_a_run_and_its_reports(
    cli: Callable[..., Done], tmp_path: Path, files: tuple[str, str], engine: tuple[str, ...]
) -> None:
    """A tie of two samples: pass@1 is a half, and every form of the report says so."""
    samples, tasks = files
    words = ("--out", "run.jsonl", "--html", "run.html", "--junit", "run.xml", "--k", "1,2")
    done = cli("evaluate", samples, "-d", tasks, *words, *engine, "--json")
    assert 0 == done.code, done.err
    found = json.loads(done.out)
    assert {"AC": 1, "WA": 1} == found["verdicts"]
    assert (0.5, 1.0) == tuple(found["pass_at_k"][k]["value"] for k in ("1", "2"))
    assert 3 == len((tmp_path / "run.jsonl").read_text().splitlines())
    assert "double" in (tmp_path / "run.html").read_text()
    suite = ElementTree.parse(tmp_path / "run.xml").getroot()
    assert ("2", "1") == (suite.get("tests"), suite.get("failures"))


def test_a_second_run_goes_on(cli: Callable[..., Done], files: tuple[str, str]) -> None:
    """Results are not replaced by accident, and are not computed again."""
    samples, tasks = files
    words = ("evaluate", samples, "-d", tasks, "--out", "run.jsonl")
    first = cli(*words)
    assert 0 == first.code, first.err
    again = cli(*words)
    assert 125 == again.code
    assert "run.jsonl" in again.err
    assert "resume" in again.err
    resumed = cli(*words, "--resume")
    assert (0, first.out) == (resumed.code, resumed.out)


def test_a_reference_that_fails_leaves_its_task_out(
    cli: Callable[..., Done], tmp_path: Path
) -> None:
    """A failure of the data set is no wrong answer."""
    tasks = write(tmp_path / "tasks.jsonl", [TASK, BROKEN])
    samples = write(
        tmp_path / "samples.jsonl",
        [{"task_id": name, "completion": COMPLETIONS["right"]} for name in ("double", "broken")],
    )
    words = ("evaluate", samples.name, "-d", tasks.name, "--json")
    plain = json.loads(cli(*words).out)
    assert {"AC": 2} == plain["verdicts"]
    done = cli(*words, "--validate")
    assert "left out task broken" in done.err
    assert (0, {"AC": 1}) == (done.code, json.loads(done.out)["verdicts"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--resume",), "--resume needs --out FILE"),
        (("--workers", "0"), "invalid workers"),
        (("--k", "many"), "invalid --k: expected numbers such as 1,10, got 'many'"),
        (("--engine", "spark"), "spark"),
        (("--score", "best"), "best"),
    ],
)
def test_mistakes_of_the_command_line(
    cli: Callable[..., Done], files: tuple[str, str], words: tuple[str, ...], message: str
) -> None:
    done = cli("evaluate", files[0], "-d", files[1], *words)
    assert (2, "") == (done.code, done.out)
    assert message in done.err


@pytest.mark.parametrize("engine", [(), ("--engine", "local", "-j", "1")])
def test_an_interrupt_says_how_to_go_on(
    cli: Callable[..., Done],
    start: Callable[..., subprocess.Popen[str]],
    family: Callable[[int], Family],
    tmp_path: Path,
    files: tuple[str, str],
    engine: tuple[str, ...],
) -> None:
    """Finished results are kept, and nothing runs on."""
    slow = f"    import time; time.sleep(0.1)\n{COMPLETIONS['right']}"
    write(tmp_path / "slow.jsonl", [{"task_id": "double", "completion": slow}] * 40)
    words = ("evaluate", "slow.jsonl", "-d", files[1], "--out", "run.jsonl", *engine)
    process = start(*words)
    run = tmp_path / "run.jsonl"
    deadline = time.monotonic() + 60
    while not run.exists() or run.read_text().count("\n") < 4:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    below = family(process.pid)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (130, "") == (process.returncode, out)
    assert "what is done is in run.jsonl" in err
    assert "--resume" in err
    assert not below.survivors()
    assert 0 == cli(*words, "--resume").code
    assert 41 == run.read_text().count("\n")


def test_samples_of_tasks_need_a_dataset(cli: Callable[..., Done], files: tuple[str, str]) -> None:
    done = cli("evaluate", files[0])
    assert (2, "") == (done.code, done.out)
    assert "invalid task of sample 'double/0'" in done.err
    assert "--dataset FILE" in done.err


@pytest.mark.parametrize("words", [("--validate",), ("--format", "mbpp")])
def test_options_of_a_dataset_need_one(
    cli: Callable[..., Done], files: tuple[str, str], words: tuple[str, ...]
) -> None:
    done = cli("evaluate", files[0], *words)
    assert (2, "") == (done.code, done.out)
    assert f"{words[0]} needs --dataset FILE" in done.err


@pytest.mark.parametrize("skip", [False, True])
def test_a_line_that_cannot_be_read_is_named(
    cli: Callable[..., Done], tmp_path: Path, files: tuple[str, str], skip: bool
) -> None:
    samples, tasks = files
    with (tmp_path / samples).open("a") as file:
        file.write("{no json\n")
    done = cli("evaluate", samples, "-d", tasks, *(["--skip-bad"] if skip else []))
    assert (0 if skip else 2) == done.code
    assert "line 3" in done.err
    assert skip or "--skip-bad" in done.err
