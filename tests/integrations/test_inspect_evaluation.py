"""Whole evaluations: the example, one configured by a file, and one that is interrupted."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from inspect_ai.log import read_eval_log

from llm_sandbox.backends.containers.gc.inventory import list_resources
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.integrations.inspect import CONFIG_FILE, SandboxConfig

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "integrations" / "inspect_evaluation.py"
NEEDS_DOCKER = pytest.mark.engine("docker", image="python")

CONFIGURED = """
backend = "bubblewrap"
workdir = "/home/agent"
env = { WHO = "agent" }

[limits]
open_files = 77

[sandboxes.victim]
backend = "bubblewrap"
env = { WHO = "victim" }
"""
TASK = """
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.solver import solver
from inspect_ai.util import sandbox

@solver
def look():
    async def solve(state, generate):
        for name in ("default", "victim"):
            words = ["sh", "-c", "pwd; echo $WHO; ulimit -n; cat flag.txt"]
            done = await sandbox(name).exec(words)
            state.store.set(name, [done.stdout.split(), done.returncode])
        return state
    return solve

@task
def two():
    sample = Sample("?", files={"victim:flag.txt": "flag"})
    return Task([sample], solver=look(), sandbox="llm_sandbox")
"""
ENDLESS = """
import sys
import anyio
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.solver import solver
from inspect_ai.util import sandbox
from llm_sandbox.integrations.inspect import SandboxConfig

@solver
def wait():
    async def solve(state, generate):
        async with anyio.create_task_group() as tasks:
            for name, words in zip(("default", "other"), sys.argv[1:]):
                tasks.start_soon(sandbox(name).exec, ["sh", "-c", words + "; :"])
        return state
    return solve

other = SandboxConfig(backend="bubblewrap")
config = SandboxConfig(backend="docker", sandboxes={"other": other})
task = Task([Sample("?")], solver=wait(), sandbox=("llm_sandbox", config))
print(eval(task, model="mockllm/model", display="none")[0].status)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for all that inspect writes."""
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path


def test_the_example_is_scored(here: Path) -> None:
    """A scripted model uses tools in sandboxes, and the scorer finds what they left."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), "bubblewrap"],
        cwd=here,
        capture_output=True,
        text=True,
        timeout=110,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("sample 1: C, 20\nsample 2: C, apple\nsuccess ")
    (path,) = (here / "logs").iterdir()
    log = read_eval_log(str(path))
    assert log.results is not None
    assert log.results.scores[0].metrics["accuracy"].value == 1.0
    assert log.eval.sandbox is not None
    config = log.eval.sandbox.config
    assert isinstance(config, SandboxConfig)
    assert (config.backend, config.limits.memory_bytes) == ("bubblewrap", 512 << 20)
    assert log.samples is not None
    ran = [event for event in log.samples[0].events if event.event == "sandbox"]
    assert [event.action for event in ran] == ["write_file", "exec", "read_file"]


def test_a_file_beside_the_task_configures_it(here: Path) -> None:
    """Several sandboxes in a sample, each with its own name, files, variables and limits."""
    (here / CONFIG_FILE).write_text(CONFIGURED)
    (here / "two.py").write_text(TASK)
    command = [sys.executable, "-m", "inspect_ai", "eval", "two.py", "--model", "mockllm/model"]
    done = subprocess.run(
        [*command, "--display", "none"], cwd=here, capture_output=True, text=True, timeout=110
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = (here / "logs").iterdir()
    log = read_eval_log(str(path))
    assert log.status == "success", log.error
    assert log.samples is not None
    seen = log.samples[0].store
    assert seen["default"] == [["/home/agent", "agent", "77"], 1]
    assert seen["victim"] == [["/sandbox", "victim", "512", "flag"], 0]


@NEEDS_DOCKER
def test_an_interrupted_evaluation_leaves_nothing(here: Path) -> None:
    """Its programs are killed, its sandboxes removed, and its log says that it was cancelled."""
    script, moment = here / "endless.py", time.monotonic_ns()
    script.write_text(ENDLESS)
    programs = [f"sleep 62{moment}", f"sleep 63{moment}"]
    with subprocess.Popen(
        [sys.executable, str(script), *programs],
        cwd=here,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as evaluation:
        try:
            started = wait_for(lambda: all(map(is_running, programs)), 90, evaluation)
            assert started, evaluation.poll()
            assert containers_of(evaluation.pid)
            evaluation.send_signal(signal.SIGINT)
            assert evaluation.stdout is not None
            said = evaluation.stdout.read()
            evaluation.wait(60)
        finally:
            evaluation.kill()
    assert wait_for(lambda: not any(map(is_running, programs)))
    assert wait_for(lambda: not containers_of(evaluation.pid))
    (path,) = (here / "logs").iterdir()
    assert read_eval_log(str(path)).status == "cancelled", said


def is_running(words: str) -> bool:
    """Whether a shell of a sandbox runs the program; the evaluation itself has it as a word."""
    for process in psutil.process_iter(["cmdline"]):
        if process.info["cmdline"] == words.split():
            return True
    return False


def containers_of(pid: int) -> list[str]:
    backend: Any = get_backend("docker")
    return [
        one.id
        for one in list_resources(backend.engine)
        if one.kind == "sandbox" and one.owner is not None and one.owner.pid == pid
    ]


def wait_for(claim: Callable[[], bool], within_s: float = 30.0, process: Any = None) -> bool:
    """Whether it becomes true in time, and before the process has ended."""
    deadline = time.monotonic() + within_s
    while not claim():
        if time.monotonic() > deadline or (process is not None and process.poll() is not None):
            return False
        time.sleep(0.1)
    return True
