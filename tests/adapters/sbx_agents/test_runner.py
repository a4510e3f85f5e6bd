"""The runner of the package ``sbx-agents`` itself, over sandboxes of ours.

The agent is a script in place of one that asks a model; nothing leaves this machine.
"""

from pathlib import Path
from typing import Any

import pytest

from llm_sandbox.adapters.sbx_agents import DockerSandbox, DockerSbxSandbox
from tests.adapters.sbx_agents.conftest import IMAGE, FakeSbx

sbx_agents = pytest.importorskip("sbx_agents", reason="pip install sbx-agents==0.1.0")
from sbx_agents.backends import Codex, Shell  # noqa: E402

SCRIPT = """
import json, pathlib, sys
print(json.dumps({"type": "thread.started", "thread_id": "t-1"}))
print("no JSON")
pathlib.Path("made.txt").write_text("by the agent\\n")
done = {"type": "agent_message", "text": "did: " + sys.argv[1]}
print(json.dumps({"type": "item.completed", "item": done}))
print(json.dumps({"type": "turn.completed", "usage": {"output_tokens": 3}}))
"""


def scripted() -> Any:
    """An agent that does without a model what agents do with one."""
    prefix = ["python3", "-c", SCRIPT]
    return sbx_agents.Agent(name="helper", backend=Shell(command_prefix=prefix))


@pytest.mark.engine("docker", image="python")
@pytest.mark.parametrize("kind", ["docker", "builtin"])
def test_runner_in_containers(kind: str, workspace: Path) -> None:
    """Its result has the agent's words, what was parsed of them, and what became of the files."""
    sandbox: Any = (
        DockerSandbox(workspace=workspace, image=IMAGE, network="blocked")
        if kind == "docker"
        else DockerSbxSandbox(workspace=workspace, image=IMAGE, engine="builtin")
    )
    config = sbx_agents.RunConfig(timeout_seconds=60, json_events=True, metadata={"ours": 1})
    result = sbx_agents.Runner.run_sync(
        scripted(), sandbox=sandbox, prompt="greet", run_config=config
    )
    assert (0, "did: greet", "t-1") == (result.returncode, result.output, result.thread_id)
    assert {"output_tokens": 3} == result.usage
    assert sandbox.id == result.sandbox_backend
    assert "+by the agent" in result.diff
    assert [("made.txt", "file")] == [(str(one.path), one.kind) for one in result.artifacts]
    assert "added" == result.artifacts[0].metadata["change"]
    assert [] == result.metadata["deleted"]
    assert result.metadata["sandbox_id"]


def test_runner_with_codex_over_the_stand_in(fake_sbx: FakeSbx, workspace: Path) -> None:
    """Codex' own configuration is written before, and is no part of what the agent did."""
    DockerSbxSandbox.set_global_secret("openai", "sk-key")
    agent = sbx_agents.Agent(name="coder", backend=Codex(model="m"), instructions="Be brief.")
    runner = sbx_agents.Runner(agent, sandbox=DockerSbxSandbox(workspace=workspace))
    config = sbx_agents.RunConfig(json_events=True)
    result = runner.run_sync("do it", run_config=config)
    assert "args: exec --json do it" in result.stdout
    assert [{"type": "thread.started"}] == result.events
    assert 'model = "m"' in (workspace / ".codex/config.toml").read_text()
    assert ("", []) == (result.diff, result.artifacts)
    assert {} == fake_sbx.knows()["sandboxes"]
