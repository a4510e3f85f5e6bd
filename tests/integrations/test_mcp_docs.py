"""Examples of docs/mcp.md, run unchanged."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from llm_sandbox.integrations.mcp import ServerOptions, make_server
from tests.integrations.mcp_servers import PATIENCE_S, ROOT, environment

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs" / "mcp.md").read_text()
PROGRAMS = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
COMMANDS = re.findall(r"^\$ llm-sandbox (.*)", PAGE, re.MULTILINE)
SAYS = ["3 rows in", "42", "Variables and files are kept"]


def run(folder: Path, *words: str) -> str:
    """Run Python in a folder, and return what it prints."""
    # Clients give the servers that they start few variables: what is tested is found beside them.
    (folder / "llm_sandbox").symlink_to(ROOT / "llm_sandbox")
    done = subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        cwd=folder,
        env=environment(LLM_SANDBOX_BACKEND=os.environ.get("LLM_SANDBOX_BACKEND", "bubblewrap")),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("program", "says"), list(zip(PROGRAMS, SAYS, strict=True)), ids=["client", "http", "server"]
)
def test_a_program_runs(tmp_path: Path, program: str, says: str) -> None:
    assert says in run(tmp_path, "-c", program)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_runs(tmp_path: Path, command: str) -> None:
    assert '"mcpServers"' in run(tmp_path, "-m", "llm_sandbox", *shlex.split(command))


def test_the_table_has_every_tool() -> None:
    server = make_server(ServerOptions())
    names = {tool.name for tool in anyio.run(server.list_tools)}
    shown = set(re.findall(r"`(\w+)`", PAGE.split("## Tools")[1].split("**Time.**")[0]))
    assert names <= shown
