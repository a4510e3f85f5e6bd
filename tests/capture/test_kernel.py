"""The shim in a stock ipykernel, over the wire."""

from __future__ import annotations

import base64
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.filterwarnings("ignore"),
]
SHIM = Path(__file__).parents[2] / "llm_sandbox" / "language_handlers" / "python"
PYPLOT = "import matplotlib.pyplot as plt\n"


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    manager_module = pytest.importorskip("jupyter_client.manager")
    pytest.importorskip("ipykernel")
    environment = {**os.environ, "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    manager, client = manager_module.start_new_kernel(env=environment)
    try:
        execute(
            client,
            f"import sys; sys.path.insert(0, {str(SHIM)!r}); import shim\n"
            "shim.install(get_ipython()); sys.path.pop(0); del shim, sys",
        )
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def execute(client: Any, code: str) -> list[tuple[str, dict[str, Any]]]:
    """Run a cell and give the messages it caused."""
    request = client.execute(code)
    messages: list[tuple[str, dict[str, Any]]] = []
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        message = client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") != request:
            continue
        kind, content = message["msg_type"], message["content"]
        if kind == "status" and content["execution_state"] == "idle":
            return messages
        if kind not in ("status", "execute_input"):
            messages.append((kind, content))
    raise AssertionError(messages)


def test_plot_is_display_data(client: Any) -> None:
    messages = execute(client, f"{PYPLOT}print('a')\nplt.plot([1])\nplt.show()\nprint('b')")
    assert [kind for kind, _ in messages] == ["stream", "display_data", "stream"]
    content = messages[1][1]
    assert base64.b64decode(content["data"]["image/png"]).startswith(b"\x89PNG")
    assert content["metadata"]["llm_sandbox"] == {
        "kind": "plot",
        "source": "matplotlib",
        "event": "show",
    }


def test_figure_left_open_by_an_error(client: Any) -> None:
    messages = execute(client, f"{PYPLOT}plt.plot([1, 2])\n1 / 0")
    assert [kind for kind, _ in messages] == ["error", "display_data"]
    assert messages[1][1]["metadata"]["llm_sandbox"]["event"] == "cell_end"


def test_saved_svg(client: Any) -> None:
    messages = execute(
        client, f"{PYPLOT}import io\nplt.plot([1])\nplt.savefig(io.BytesIO(), format='svg')"
    )
    assert [kind for kind, _ in messages] == ["display_data"]
    assert "<svg" in messages[0][1]["data"]["image/svg+xml"]


def test_plotly_is_display_data(client: Any) -> None:
    messages = execute(client, "import plotly.graph_objects as go\ngo.Figure(go.Bar(y=[1]))")
    assert [kind for kind, _ in messages] == ["display_data"]
    assert "application/vnd.plotly.v1+json" in messages[0][1]["data"]


def test_pillow(client: Any) -> None:
    messages = execute(client, "from PIL import Image\nim = Image.new('L', (2, 2))\nim.show()\nim")
    assert [kind for kind, _ in messages] == ["display_data", "execute_result"]
    assert all(content["metadata"]["llm_sandbox"]["kind"] == "plot" for _, content in messages)


def test_magics_and_broken_artists(client: Any) -> None:
    code = """
import matplotlib.pyplot as plt
%matplotlib inline
%config InlineBackend.figure_formats = ['svg']
from matplotlib.lines import Line2D
class Broken(Line2D):
    def draw(self, renderer): raise RuntimeError("no ink")
plt.figure().add_subplot().add_artist(Broken([0], [0]))
plt.figure().add_subplot()
None
"""
    restore = "get_ipython().run_line_magic('config', 'InlineBackend.figure_formats = {\"png\"}')"
    messages = execute(client, code)
    execute(client, restore)
    assert [kind for kind, _ in messages] == ["stream", "display_data"]
    assert messages[0][1]["text"].count("\n") == 1
    assert "image/svg+xml" in messages[1][1]["data"]
