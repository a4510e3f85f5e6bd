"""Tools for E2B of agent frameworks, unmodified, against a server: each does what it is for."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from e2b_code_interpreter import Sandbox

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.server.servers import Served

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\n"
PNG = b"\x89PNG\r\n\x1a\n"
HOME = "/home/user"


@pytest.fixture(autouse=True)
def pointed(server: Served, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Point E2B's clients to the server, where none of their sandboxes is left afterwards."""
    for name, value in server.variables().items():
        monkeypatch.setenv(name, value)
    yield
    assert [] == Sandbox.list().next_items()


def test_agno(tmp_path: Path) -> None:
    """`E2BTools` of Agno."""
    from agno.tools.e2b import E2BTools

    tools = E2BTools(timeout=300)
    tools.run_python_code("x = 41")
    assert "42" in tools.run_python_code("print(x + 1)")
    assert "Error: ZeroDivisionError" in tools.run_python_code("1 / 0")

    assert "Result 1" in tools.run_python_code(f"{PLOT}plt.show()")
    figure = tmp_path / "figure.png"
    # The agent is not used.
    shown = tools.download_png_result(None, output_path=str(figure))  # type: ignore[arg-type]
    assert shown.images is not None
    copy = shown.images[0].filepath
    assert copy is not None
    Path(copy).unlink()
    assert figure.read_bytes().startswith(PNG)

    assert f"{HOME}/in/n.txt" == tools.write_file_content("in/n.txt", "41")
    assert "41" == tools.read_file_content("in/n.txt")
    assert "n.txt (File, 2 bytes)" in tools.list_files("in")
    assert f"{HOME}/copy.png" == tools.upload_file(str(figure), "copy.png")
    assert ["STDOUT:\n41"] == json.loads(tools.run_command("cat in/n.txt"))
    assert "exited with code 3" in tools.run_command("exit 3")
    assert ["STDOUT: a\n"] == json.loads(tools.stream_command("echo a"))
    command = tools.run_background_command("sleep 600")
    assert "terminated successfully" in tools.kill_background_command(command)
    assert "success" in tools.shutdown_sandbox()


def test_smolagents() -> None:
    """`E2BExecutor` of smolagents."""
    from smolagents import AgentError, AgentLogger
    from smolagents.monitoring import LogLevel
    from smolagents.remote_executors import E2BExecutor

    executor = E2BExecutor([], AgentLogger(level=LogLevel.OFF))
    executor.send_variables({"n": 41})
    found = executor("print(n + 1)\nn")
    assert ("42\n", "41") == (found.logs, found.output)
    figure = executor(f"{PLOT}plt.gcf()").output
    assert ("PNG", True) == (figure.format, figure.width > 100)
    with pytest.raises(AgentError, match="ZeroDivisionError"):
        executor("1 / 0")
    executor.send_tools({})
    assert "41" == executor("n").output, "variables outlive an error"
    executor.cleanup()


async def test_openai_agents() -> None:
    """`E2BSandboxClient` of OpenAI's Agents SDK."""
    from agents.extensions.sandbox.e2b import E2BSandboxClient, E2BSandboxClientOptions
    from agents.sandbox import Manifest
    from agents.sandbox.errors import WorkspaceReadNotFoundError

    client = E2BSandboxClient()
    # Its defaults are to pause, and an open network.
    options = E2BSandboxClientOptions(
        "e2b_code_interpreter",
        timeout=300,
        on_timeout="kill",
        auto_resume=False,
        allow_internet_access=False,
    )
    session = await client.create(manifest=Manifest(root=f"{HOME}/work"), options=options)
    try:
        await session.start()
        failed = await session.exec("echo told; exit 3")
        assert (b"told\n", 3) == (failed.stdout, failed.exit_code)
        code = f"{PLOT}plt.savefig('figure.png')"
        await session.write(Path("draw.py"), io.BytesIO(code.encode()))
        assert 0 == (await session.exec("python3 draw.py")).exit_code
        assert (await session.read(Path("figure.png"))).read().startswith(PNG)
        with pytest.raises(WorkspaceReadNotFoundError):
            await session.read(Path("none"))
        assert await session.running()
    finally:
        await session.stop()
        await session.shutdown()
        await client.delete(session)


async def test_what_its_defaults_ask_for_is_refused_in_words() -> None:
    """The control of the options above: without them there is no sandbox."""
    from agents.extensions.sandbox.e2b import E2BSandboxClient, E2BSandboxClientOptions
    from e2b.exceptions import SandboxException

    with pytest.raises(SandboxException, match="create it with the timeout action kill"):
        await E2BSandboxClient().create(options=E2BSandboxClientOptions("e2b_code_interpreter"))
