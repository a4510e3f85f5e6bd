"""The runner of the package ``sbx-agents``, with a sandbox of ours as its backend.

The agent is a script, in place of one that asks a model: pip install sbx-agents
"""

import tempfile
from pathlib import Path

from sbx_agents import Agent, RunConfig, Runner
from sbx_agents.backends import Shell

from llm_sandbox.adapters.sbx_agents import DockerSbxSandbox

AGENT = """
import json, pathlib, sys
pathlib.Path("answer.txt").write_text("42\\n")
said = {"type": "agent_message", "text": f"{sys.argv[1]} I wrote it down."}
print(json.dumps({"type": "item.completed", "item": said}))
"""

with tempfile.TemporaryDirectory() as folder:
    result = Runner.run_sync(
        Agent(name="helper", backend=Shell(command_prefix=["python3", "-c", AGENT])),
        sandbox=DockerSbxSandbox(workspace=Path(folder), engine="builtin"),
        prompt="What is the answer?",
        run_config=RunConfig(timeout_seconds=60, json_events=True),
    )
    print(result.output)
    print(result.diff)
