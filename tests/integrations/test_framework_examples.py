"""The examples of agent frameworks: the demo's table, written answers, a figure on the disk."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integrations.scripted_model import Call, Say, serve

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "integrations"
LOOK = "import pandas as pd\ndata = pd.read_csv('penguins.csv')\nprint(list(data.columns))"
DRAW = "import seaborn as sns\nsns.boxplot(data.dropna(), x='species', y='body_mass_g')"
ANSWER = "Gentoos are the heaviest."

# Runs an example that ends at once when it looks for another machine, in whatever thread.
OFFLINE = """
import os, runpy, sys

def watch(event, given):
    named = event == "socket.connect" and isinstance(given[1], tuple)
    if named or event == "socket.getaddrinfo":
        os.write(2, f"{event} {given}".encode())
        os._exit(97)

sys.addaudithook(watch)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def run(folder: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        env=os.environ
        | {"PYTHONPATH": str(ROOT), "LLM_SANDBOX_BACKEND": "bubblewrap", "OPENAI_API_KEY": "none"}
        | env,
    )


@pytest.mark.parametrize(
    "name", ["langchain_agent", "agents_sdk", "pydantic_ai_agent", "smolagents_agent"]
)
def test_an_example_with_written_answers_saves_the_figure(name: str, tmp_path: Path) -> None:
    """It looks, draws and answers, and nothing leaves this machine, traces included."""
    done = run(tmp_path, "-c", OFFLINE, str(EXAMPLES / f"{name}.py"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert ANSWER in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["figure-1.png"]


def test_the_agents_example_asks_the_model_that_it_is_given(tmp_path: Path) -> None:
    """Over the wire; which the guard of the other test would have stopped."""
    script = str(EXAMPLES / "agents_sdk.py")
    guess = tmp_path / "guess.py"
    guess.write_text("import sys, urllib.request as r; r.urlopen(sys.argv[1])")
    with serve([Call(LOOK)], [Call(DRAW)], [Say(ANSWER)]) as model:
        stopped = run(tmp_path, "-c", OFFLINE, str(guess), model.url)
        assert (stopped.returncode, model.requests) == (97, [])
        guess.unlink()
        done = run(tmp_path, script, "a-model", OPENAI_BASE_URL=model.url)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ANSWER in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["figure-1.png"]
    assert "body_mass_g" in str(model.requests[1])
