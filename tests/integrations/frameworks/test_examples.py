"""The examples of these frameworks: the demo's table, written answers, a figure on the disk."""

import importlib.util
from pathlib import Path

import pytest

from tests.integrations.frameworks import scripted_claude
from tests.integrations.scripted_model import Call, Say, serve
from tests.integrations.test_framework_examples import ANSWER, DRAW, EXAMPLES, LOOK, OFFLINE, run

pytestmark = pytest.mark.slow

WRITTEN = {
    "agent_framework_agent": "agent_framework",
    "autogen_agent": "autogen_agentchat",
    "crewai_agent": "crewai",
    "deep_agent": "deepagents",
    "dspy_rlm": "dspy",
    "google_adk_agent": "google.adk",
    "llama_index_agent": "llama_index.core",
}


def need(module: str) -> None:
    try:
        found = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        found = None
    if found is None:
        pytest.skip(f"`make frameworks` installs {module} and runs this")


def check(done: object, folder: Path) -> None:
    code, stdout, stderr = (getattr(done, name) for name in ("returncode", "stdout", "stderr"))
    assert code == 0, stdout + stderr
    assert ANSWER in stdout
    assert [path.name for path in folder.glob("*.png")] == ["figure-1.png"]


@pytest.mark.parametrize("name", WRITTEN)
def test_an_example_with_written_answers_saves_the_figure(name: str, tmp_path: Path) -> None:
    """It looks, draws and answers, and nothing leaves this machine."""
    need(WRITTEN[name])
    done = run(tmp_path, "-c", OFFLINE, str(EXAMPLES / f"{name}.py"), HOME=str(tmp_path / "home"))
    if name == "autogen_agent":  # which only runs what it is given
        assert "body_mass_g" in done.stdout, done.stderr
        assert [path.name for path in tmp_path.glob("*.png")] == ["figure-1.png"]
        return
    check(done, tmp_path)


def test_the_example_of_agno_asks_the_model_that_it_is_given(tmp_path: Path) -> None:
    """Over the wire."""
    need("agno")
    with serve([Call(LOOK)], [Call(DRAW)], [Say(ANSWER)]) as model:
        done = run(tmp_path, str(EXAMPLES / "agno_agent.py"), "m", OPENAI_BASE_URL=model.url)
    check(done, tmp_path)


def test_the_example_of_claude_asks_the_model_that_it_is_given(tmp_path: Path) -> None:
    """Over the wire."""
    need("claude_agent_sdk")
    with scripted_claude.serve(LOOK, DRAW, tool="mcp__sandbox__run_code") as model:
        model.words = ANSWER
        done = run(
            tmp_path,
            str(EXAMPLES / "claude_agent.py"),
            "claude-sonnet-4-5",
            ANTHROPIC_API_KEY="none",
            ANTHROPIC_BASE_URL=model.url,
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
            HOME=str(tmp_path / "home"),
            NO_PROXY="127.0.0.1",
        )
    check(done, tmp_path)
