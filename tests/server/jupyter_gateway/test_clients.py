"""Kernels for Jupyter's own clients."""

import gc
import json
import os
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import papermill
import pytest
from jupyter_server.gateway.gateway_client import GatewayClient

from tests.integrations.language_notebooks import NOTEBOOKS
from tests.server.fronts import Front, front, state, text
from tests.server.jupyter_gateway.gateways import Gateway
from tests.server.requests import ask
from tests.server.servers import PATIENCE_S, until

MANAGER = "jupyter_server.gateway.managers.GatewayKernelManager"
KERNELS = {"r": "ir"}
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module", autouse=True)
def collected() -> Iterator[None]:
    """Event loops that Jupyter's clients leave to the collector go with their module."""
    yield
    GatewayClient.clear_instance()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


class TestClients:
    """Programs of Jupyter's, which know nothing of this server."""

    @pytest.fixture
    def manager(self, mine: Gateway, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
        """The gateway's address for a client that sends no key with its websocket."""
        GatewayClient.clear_instance()
        GatewayClient.instance().url = f"{mine.server.url}/gw/{mine.key}"
        yield MANAGER
        GatewayClient.clear_instance()

    @pytest.mark.parametrize("lang", ["bash", "javascript", "r", "ruby"])
    def test_nbclient_runs_a_notebook(self, lang: str, manager: str) -> None:
        cells = NOTEBOOKS[lang].cells
        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(code) for code, _ in cells]
        )
        name = KERNELS.get(lang, lang)
        client = nbclient.NotebookClient(
            notebook, kernel_name=name, kernel_manager_class=manager, timeout=60, allow_errors=True
        )
        client.execute(kernel_name=name)
        assert NOTEBOOKS[lang].name == notebook.metadata.language_info.name
        for cell, (code, wanted) in zip(notebook.cells, cells, strict=True):
            shown = json.dumps(cell.outputs, ensure_ascii=False)
            for kind, words in wanted:
                assert kind in shown, code
                assert json.dumps(words, ensure_ascii=False)[1:-1] in shown, code

    def test_papermill_runs_a_notebook(self, manager: str, tmp_path: Path) -> None:
        cells = [nbformat.v4.new_code_cell("n = 1", metadata={"tags": ["parameters"]})]
        cells.append(nbformat.v4.new_code_cell("import pandas as pd\npd.DataFrame({'n': [n]})"))
        cells.append(nbformat.v4.new_code_cell("import matplotlib.pyplot as p\np.plot([n]);"))
        source, target = tmp_path / "in.ipynb", tmp_path / "out.ipynb"
        metadata = {"kernelspec": {"name": "python3", "language": "python", "display_name": "P"}}
        nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), source)
        papermill.execute_notebook(
            source,
            target,
            {"n": 4321},
            kernel_manager_class=manager,
            progress_bar=False,
        )
        *_, table, figure = nbformat.read(target, 4).cells
        assert "4321" in table.outputs[0].data["text/html"]
        assert "image/png" in figure.outputs[0].data

    def test_a_dead_kernel_fails_the_notebook(self, manager: str) -> None:
        """Its client is told why, and waits for nothing."""
        cells = [nbformat.v4.new_code_cell("import os, signal; os.kill(os.getpid(), 9)")]
        client = nbclient.NotebookClient(
            nbformat.v4.new_notebook(cells=cells), kernel_manager_class=manager, timeout=60
        )
        with pytest.raises(nbclient.exceptions.CellExecutionError, match="the kernel died"):
            client.execute()


@pytest.fixture(scope="module")
def jupyter(mine: Gateway, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a Jupyter Server that has all its kernels from the gateway."""
    folder = tmp_path_factory.mktemp("jupyter")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = {
        "IdentityProvider.token": "",
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.port": port,
        "ServerApp.open_browser": False,
        "ServerApp.allow_root": True,
        "ServerApp.root_dir": folder,
        "ServerApp.disable_check_xsrf": True,
        "ServerApp.terminals_enabled": False,
    }
    environment = {
        **os.environ,
        **{f"JUPYTER_{kind}_DIR": str(folder / kind) for kind in ("CONFIG", "DATA", "RUNTIME")},
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_GATEWAY_URL": mine.server.url,
        "JUPYTER_GATEWAY_AUTH_TOKEN": mine.key,
    }
    command = [sys.executable, "-m", "jupyter_server", *(f"--{k}={v}" for k, v in words.items())]
    log = folder / "log"
    with log.open("w") as file:
        process = subprocess.Popen(command, env=environment, stderr=file)
    try:
        until(lambda: process.poll() is not None or _listens(port))
        assert process.poll() is None, log.read_text()
        yield port
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def _listens(port: int) -> bool:
    with socket.socket() as line:
        return line.connect_ex(("127.0.0.1", port)) == 0


class TestJupyterServer:
    """A Jupyter Server in gateway mode, as JupyterLab and Notebook have one."""

    def test_it_shows_the_kernels_of_the_gateway(self, jupyter: int) -> None:
        found = ask(jupyter, "GET", "/api/kernelspecs").json
        assert "python3" == found["default"]
        assert {"python3", "bash", "javascript", "ir", "ruby"} <= found["kernelspecs"].keys()
        picture = found["kernelspecs"]["python3"]["resources"]["logo-64x64"]
        assert ask(jupyter, "GET", picture).body.startswith(b"\x89PNG")

    def test_a_notebook_has_its_session(self, jupyter: int, mine: Gateway) -> None:
        body = {"path": "n.ipynb", "name": "n", "type": "notebook", "kernel": {"name": "python3"}}
        session = ask(jupyter, "POST", "/api/sessions", body).json
        kernel_id = session["kernel"]["id"]
        path = f"/api/kernels/{kernel_id}"
        with front(jupyter, kernel_id, query="?session_id=one") as lab:
            assert "42" == text(lab.run("x = 6\nx * 7"))
            self._asks(lab)
            self._is_interrupted(lab, lambda: ask(jupyter, "POST", f"{path}/interrupt"))
            lab.run("open('kept', 'w').write('kept'); 0")
            assert 200 == ask(jupyter, "POST", f"{path}/restart").status
            lab.until(lambda one: state(one) == "starting")
            assert "NameError" in text(lab.run("x"))
            assert "'kept'" == text(lab.run("open('kept').read()"))
        assert kernel_id in [one["id"] for one in mine.ask("GET", "/api/kernels").json]
        assert 204 == ask(jupyter, "DELETE", f"/api/sessions/{session['id']}").status
        assert 404 == mine.ask("GET", path).status

    def _asks(self, lab: Front) -> None:
        name = lab.ask("input('who? ') + '!'", allow_stdin=True)
        question = lab.until(lambda one: one["msg_type"] == "input_request")[-1]
        assert ("stdin", "who? ") == (question["channel"], question["content"]["prompt"])
        lab.send("input_reply", {"value": "you"}, "stdin")
        assert "'you!'" == text(lab.answers(name))

    def _is_interrupted(self, lab: Front, interrupt: Any) -> None:
        name = lab.ask("while True: pass")
        lab.is_busy(name)
        assert 204 == interrupt().status
        assert "KeyboardInterrupt" in text(lab.answers(name))
