"""Command of an agent in a container of its own, and its changes of the workspace."""

import tempfile
from pathlib import Path

from llm_sandbox.adapters.sbx_agents import DockerSandbox


class Backend:
    """Kind of the agent."""

    id = "shell"


class Agent:
    """Agent of the request."""

    name = "helper"
    backend = Backend()


with tempfile.TemporaryDirectory() as folder:
    workspace = Path(folder)
    (workspace / "notes.txt").write_text("measure\n")
    sandbox = DockerSandbox(
        workspace=workspace,
        image="llm-sandbox/python:0.1.0",  # llm-sandbox images build python
        network="blocked",
        docker_args=["--cpus", "1", "--memory", "512m"],
    )
    session = sandbox.prepare(Agent(), None)
    try:
        result = sandbox.run(session, ["sh", "-c", "echo cut >> notes.txt; wc -l notes.txt"])
        artifacts = sandbox.collect(session)
    finally:
        sandbox.cleanup(session)

    print(result.returncode, result.stdout.strip())
    for artifact in artifacts.artifacts:
        print(artifact.metadata["change"], artifact.path)
    print(artifacts.diff)
