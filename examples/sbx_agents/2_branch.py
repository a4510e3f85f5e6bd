"""Agent on a branch of its own: it works in a private clone, and never sees the repository."""

import os
import subprocess
import tempfile
from pathlib import Path

from llm_sandbox.adapters.sbx_agents import DockerSbxSandbox


class Backend:
    """Kind of the agent."""

    id = "shell"


class Agent:
    """Agent of the request."""

    name = "helper"
    backend = Backend()


def git(*words: str) -> None:
    """Run Git in the repository, as its owner."""
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", *who, "-C", str(repository), *words], check=True)


with tempfile.TemporaryDirectory() as folder:
    os.environ["XDG_STATE_HOME"] = f"{folder}/state"  # where clones lie; theirs stay otherwise
    repository = Path(folder, "repository")
    repository.mkdir()
    (repository / "app.py").write_text("print('hello')\n")
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "-m", "start")

    sandbox = DockerSbxSandbox(workspace=repository, branch="agent/greet", engine="builtin")
    session = sandbox.prepare(Agent(), None)
    try:
        sandbox.run(session, ["sed", "-i", "s/hello/good morning/", "app.py"])
        artifacts = sandbox.collect(session)
    finally:
        sandbox.cleanup(session)

    print("here:", (repository / "app.py").read_text().strip())
    print(artifacts.diff)
    # Taking it over is a decision, and starts none of the clone's programs.
    subprocess.run(
        ["git", "-C", str(repository), "apply"], input=artifacts.diff, text=True, check=True
    )
    print("now:", (repository / "app.py").read_text().strip())
