"""Kernels for Jupyter's clients, by clients of Jupyter's own and on the wire."""

import contextlib
import gc
import json
import os
import re
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import papermill
import pytest
from jupyter_server.gateway.gateway_client import GatewayClient
from websockets.exceptions import InvalidStatus

from llm_sandbox.server.keys import KeyFile
from tests.integrations.language_notebooks import NOTEBOOKS
from tests.server.fronts import Front, front, state, text
from tests.server.requests import Reply, ask
from tests.server.servers import PATIENCE_S, Served, served

MANAGER = "jupyter_server.gateway.managers.GatewayKernelManager"
KERNELS = {"r": "ir"}
IDLE = int(os.environ.get("LLM_SANDBOX_TEST_IDLE", "200"))
"""Number of websockets that say nothing."""
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


class Gateway:
    """A server with keys, as one of its tenants sees it."""

    def __init__(self, server: Served, key: str) -> None:
        self.server = server
        self.key = key
        self.headers = {"Authorization": f"token {key}"}

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        return ask(self.server.port, method, path, body, headers or self.headers)

    def start(self, name: str = "python3", **body: Any) -> str:
        reply = self.ask("POST", "/api/kernels", {"name": name, **body})
        assert 201 == reply.status, reply.body
        assert reply.headers["location"] == f"/api/kernels/{reply.json['id']}"
        return str(reply.json["id"])

    def end(self, kernel_id: str) -> None:
        assert 204 == self.ask("DELETE", f"/api/kernels/{kernel_id}").status

    def model(self, kernel_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.ask("GET", f"/api/kernels/{kernel_id}").json
        return found

    @contextmanager
    def front(self, kernel_id: str, **options: Any) -> Iterator[Front]:
        with front(self.server.port, kernel_id, headers=self.headers, **options) as found:
            yield found


@pytest.fixture(scope="module", autouse=True)
def collected() -> Iterator[None]:
    """Event loops that Jupyter's clients leave to the collector go with their module."""
    yield
    GatewayClient.clear_instance()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture(scope="module")
def tenants(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Gateway]]:
    keys = KeyFile(tmp_path_factory.mktemp("keys") / "keys.json")
    tokens = [keys.create(name) for name in ("mine", "other")]
    with served("--keys", str(keys.path), "--sandboxes", "6", "--memory", "512m") as server:
        yield [Gateway(server, token) for token in tokens]


@pytest.fixture(scope="module")
def mine(tenants: list[Gateway]) -> Gateway:
    return tenants[0]


@pytest.fixture(scope="module")
def other(tenants: list[Gateway]) -> Gateway:
    return tenants[1]


@pytest.fixture(scope="module")
def python(mine: Gateway) -> Iterator[str]:
    """A kernel that tests share, which they leave idle."""
    kernel_id = mine.start(env={"KERNEL_WORKING_DIR": "/far/away"})
    yield kernel_id
    mine.end(kernel_id)


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


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


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
            lab.until(lambda one: state(one) == "restarting")
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


class TestTokens:
    @pytest.mark.parametrize("form", ["token", "bearer", "query", "prefix"])
    def test_a_key_has_four_places(self, form: str, mine: Gateway, python: str) -> None:
        """The control: without one, and with another, nothing is opened."""
        port, key = mine.server.port, mine.key
        headers = {"Authorization": f"{form} {key}"} if form in ("token", "bearer") else None
        query = f"?token={key}" if form == "query" else ""
        prefix = f"/gw/{key}" if form == "prefix" else ""
        path = f"{prefix}/api/kernels/{python}{query}"
        assert 200 == ask(port, "GET", path, None, headers).status
        with front(port, python, headers=headers, query=query, prefix=prefix) as client:
            assert "2" == text(client.run("1 + 1"))
        for wrong in (path.replace(key, key[:-1] + "x"), f"/api/kernels/{python}"):
            bad = {name: f"{value}x" for name, value in (headers or {}).items()}
            assert 401 == ask(port, "GET", wrong, None, bad).status
        with pytest.raises(InvalidStatus, match="401"), front(port, python):
            pass

    def test_tokens_are_in_no_log(self, mine: Gateway) -> None:
        """The control: each of those requests has its line."""
        word = "w0rd-of-a-kernel"
        ask(mine.server.port, "GET", f"/gw/{mine.key}/api/kernels/{word}")
        ask(mine.server.port, "GET", f"/api/kernelspecs?token={mine.key}")
        asked = {"get_kernel", "list_kernelspecs"}
        until(lambda: asked <= {line["route"] for line in mine.server.log})
        lines = "".join(mine.server.lines)
        assert mine.key not in lines
        assert word not in lines


class TestRoutes:
    def test_the_server_describes_itself(self, mine: Gateway, python: str) -> None:
        assert mine.ask("GET", "/api").json["version"]
        assert "mine" == mine.ask("GET", "/api/me").json["identity"]["username"]
        status = mine.ask("GET", "/api/status").json
        assert status["kernels"] >= 1
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]{8}\.\d{6}Z", status["last_activity"])

    def test_a_kernelspec_is_described(self, mine: Gateway) -> None:
        spec = mine.ask("GET", "/api/kernelspecs/ir").json
        assert ("ir", "R") == (spec["name"], spec["spec"]["language"])
        assert "message" == spec["spec"]["interrupt_mode"]
        for path in ("/api/kernelspecs/none", "/kernelspecs/ir/..%2fkernel.py"):
            refused = mine.ask("GET", path)
            assert (404, {"message", "reason"}) == (refused.status, refused.json.keys())

    @pytest.mark.parametrize(
        ("body", "status"),
        [
            ({"name": "cobol"}, 404),
            ({"name": 1}, 400),
            ({"env": {"A": 1}}, 400),
            ({"env": []}, 201),
            ([], 400),
        ],
    )
    def test_a_request_for_a_kernel_is_checked(self, body: Any, status: int, mine: Gateway) -> None:
        reply = mine.ask("POST", "/api/kernels", body)
        assert status == reply.status
        if reply.status == 201:
            mine.end(reply.json["id"])

    def test_a_kernel_tells_its_state(self, mine: Gateway, python: str) -> None:
        before = mine.model(python)
        assert ("python3", "idle", 0) == tuple(
            before[name] for name in ("name", "execution_state", "connections")
        )
        with mine.front(python) as client:
            name = client.ask("input()", allow_stdin=True)
            client.until(lambda one: one["msg_type"] == "input_request")
            now = mine.model(python)
            assert ("busy", 1) == (now["execution_state"], now["connections"])
            client.send("input_reply", {"value": ""}, "stdin")
            client.answers(name)
        assert mine.model(python)["last_activity"] > before["last_activity"]

    def test_variables_are_those_of_the_request(self, mine: Gateway, python: str) -> None:
        with mine.front(python) as client:
            shown = text(client.run("import os; os.environ['KERNEL_WORKING_DIR']"))
        assert "'/far/away'" == shown

    def test_a_notebook_changes_its_kernel(self, mine: Gateway) -> None:
        body = {"path": "a.ipynb", "type": "notebook", "name": "", "kernel": {"name": "bash"}}
        one = mine.ask("POST", "/api/sessions", body).json
        assert one["id"] == mine.ask("POST", "/api/sessions", body).json["id"]
        path = f"/api/sessions/{one['id']}"
        renamed = mine.ask("PATCH", path, {"path": "b.ipynb"}).json
        assert ("b.ipynb", one["kernel"]["id"]) == (renamed["path"], renamed["kernel"]["id"])
        changed = mine.ask("PATCH", path, {"kernel": {"name": "ruby"}}).json
        assert "ruby" == changed["kernel"]["name"]
        assert 404 == mine.ask("GET", f"/api/kernels/{one['kernel']['id']}").status
        assert [one["id"]] == [found["id"] for found in mine.ask("GET", "/api/sessions").json]
        assert 204 == mine.ask("DELETE", path).status
        assert 404 == mine.ask("GET", path).status
        assert 400 == mine.ask("POST", "/api/sessions", {"kernel": {"name": "bash"}}).status


class TestChannels:
    @pytest.mark.parametrize("v1", [False, True])
    def test_both_forms_carry_buffers(self, v1: bool, mine: Gateway, python: str) -> None:
        """A widget's message there, and its answer."""
        code = (
            "def opened(comm, message):\n"
            "    comm.send({'n': 1}, buffers=[bytes(message['buffers'][0])[::-1], b'two'])\n"
            "get_ipython().kernel.comm_manager.register_target('t', opened)"
        )
        with mine.front(python, v1=v1) as client:
            assert "" == text(client.run(code))
            content = {"comm_id": f"c{v1}", "target_name": "t", "data": {}}
            client.send("comm_open", content, buffers=[b"abc"])
            answer = client.until(lambda one: one["msg_type"] == "comm_msg")[-1]
        assert [b"cba", b"two"] == [bytes(one) for one in answer["buffers"]]

    def test_a_message_without_a_channel_is_for_the_shell(self, mine: Gateway, python: str) -> None:
        with mine.front(python) as client:
            name = client.send("execute_request", {"code": "3"}, None)
            assert "3" == text(client.answers(name))

    def test_two_clients_see_everything_and_get_their_own_replies(
        self, mine: Gateway, python: str
    ) -> None:
        with mine.front(python) as one, mine.front(python, v1=True) as two:
            name = one.ask("print('seen'); input()", allow_stdin=True)
            two.until(lambda seen: "seen" in text([seen]))
            # Busy, it says at once what it is, and then that it is busy still.
            known = two.answers(two.send("kernel_info_request", {}))
            reply = next(one for one in known if one["channel"] == "shell")
            assert "python" == reply["content"]["language_info"]["name"]
            assert "busy" == state(two.receive())
            one.until(lambda seen: seen["msg_type"] == "input_request")
            one.send("input_reply", {"value": ""}, "stdin")
            assert "execute_reply" in {seen["msg_type"] for seen in one.answers(name)}
            rest = two.until(
                lambda seen: state(seen) == "idle" and seen["parent_header"]["msg_id"] == name
            )
            assert {"iopub"} == {seen["channel"] for seen in rest}

    @pytest.mark.parametrize("same", [True, False])
    def test_who_comes_back_gets_what_it_missed(
        self, same: bool, mine: Gateway, python: str
    ) -> None:
        """Another client gets nothing of it."""
        mark = f"mark-{same}"
        with mine.front(python, query="?session_id=a") as client:
            name = client.ask(f"import time; time.sleep(1); print({mark!r})")
            client.is_busy(name)
        until(lambda: mine.model(python)["execution_state"] == "idle")
        with mine.front(python, query=f"?session_id={'a' if same else 'b'}") as client:
            last = client.ask("'last'")
            seen = client.until(
                lambda one: one["parent_header"].get("msg_id") == last and state(one) == "idle"
            )
        kinds = {one["msg_type"] for one in seen if one["parent_header"].get("msg_id") == name}
        assert same == (mark in text(seen))
        assert same == ("execute_reply" in kinds)

    def test_what_is_missed_is_bounded(self, mine: Gateway) -> None:
        """The oldest is left out, and that is said."""
        kernel_id = mine.start()
        with mine.front(kernel_id, query="?session_id=a") as client:
            code = "for n in range(300): print(n, 'x' * 100_000, flush=True)\nprint('last')"
            client.is_busy(client.ask(f"import time; time.sleep(1)\n{code}"))
        until(lambda: mine.model(kernel_id)["execution_state"] == "idle")
        with mine.front(kernel_id, query="?session_id=a") as client:
            seen = text(client.until(lambda one: one["msg_type"] == "execute_reply"))
        assert re.match(r"\[\d+ messages came while no client was connected", seen)
        assert "last" in seen
        assert len(seen) < 9 << 20
        mine.end(kernel_id)

    def test_a_kernel_that_dies_is_started_again(self, mine: Gateway) -> None:
        """What was running and what waited have their answer, and files are kept."""
        kernel_id = mine.start()
        with mine.front(kernel_id) as client:
            client.run("open('kept', 'w').write('here'); x = 1")
            one, two = (client.ask(code) for code in ("import os; os.kill(os.getpid(), 9)", "x"))
            for name in (one, two):
                seen = client.answers(name)
                assert "KernelEnded: the kernel died (signal 9)" in text(seen)
                (reply,) = [message for message in seen if message["msg_type"] == "execute_reply"]
                assert "error" == reply["content"]["status"]
            client.until(lambda seen: state(seen) == "restarting")
            assert "NameError" in text(client.run("x"))
            assert "'here'" == text(client.run("open('kept').read()"))
        mine.end(kernel_id)

    def test_a_restart_is_told_to_everybody(self, mine: Gateway, python: str) -> None:
        """Code that runs is ended with its interpreter, even if it hears no interrupt."""
        with mine.front(python) as one, mine.front(python) as two:
            one.run("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); kept = 1")
            name = one.ask("while True: pass")
            one.is_busy(name)
            reply = mine.ask("POST", f"/api/kernels/{python}/restart")
            assert (200, python) == (reply.status, reply.json["id"])
            assert "the kernel was restarted" in text(one.answers(name))
            for client in (one, two):
                client.until(lambda seen: state(seen) == "restarting")
                assert "NameError" in text(client.run("kept"))

    def test_a_client_may_ask_for_the_end(self, mine: Gateway) -> None:
        kernel_id = mine.start("bash")
        with mine.front(kernel_id) as client:
            client.send("shutdown_request", {"restart": True}, "control")
            client.until(lambda seen: state(seen) == "restarting")
            assert "1\n" == text(client.run("echo 1"))
            client.send("shutdown_request", {"restart": False}, "control")
            client.until(lambda seen: seen["msg_type"] == "shutdown_reply")
            assert 1001 == client.closing()
        assert 404 == mine.ask("GET", f"/api/kernels/{kernel_id}").status

    def test_the_end_of_a_kernel_ends_its_clients(self, mine: Gateway) -> None:
        kernel_id = mine.start()
        with mine.front(kernel_id) as client:
            name = client.ask("while True: pass")
            client.is_busy(name)
            mine.end(kernel_id)
            assert "the kernel was ended" in text(client.answers(name))
            client.until(lambda seen: state(seen) == "dead")
            assert 1001 == client.closing()
        with pytest.raises(InvalidStatus, match="404"), mine.front(kernel_id):
            pass


class TestAttacks:
    def test_another_tenants_kernel_is_not_there(
        self, mine: Gateway, other: Gateway, python: str
    ) -> None:
        """The control: its own tenant reaches it."""
        path = f"/api/kernels/{python}"
        assert 200 == mine.ask("GET", path).status
        assert [] == other.ask("GET", "/api/kernels").json
        assert 0 == other.ask("GET", "/api/status").json["kernels"]
        for method, rest in (
            ("GET", ""),
            ("DELETE", ""),
            ("POST", "/interrupt"),
            ("POST", "/restart"),
        ):
            assert 404 == other.ask(method, path + rest).status
        with pytest.raises(InvalidStatus, match="404"), other.front(python):
            pass
        taken = {"path": "t.ipynb", "kernel": {"id": python}}
        assert 404 == other.ask("POST", "/api/sessions", taken).status
        with mine.front(python) as client:
            assert "1" == text(client.run("1"))

    def test_a_page_of_another_origin_is_refused(self, mine: Gateway, python: str) -> None:
        """The control: a page of this server may."""
        own = f"http://127.0.0.1:{mine.server.port}"
        with mine.front(python, origin=own) as client:
            assert "1" == text(client.run("1"))
        for origin in ("https://evil.example", "null", "http://127.0.0.1:1"):
            with pytest.raises(InvalidStatus, match="403"), mine.front(python, origin=origin):
                pass
            headers = {**mine.headers, "Origin": origin}
            assert 403 == mine.ask("POST", "/api/kernels", {}, **headers).status

    @pytest.mark.parametrize("v1", [False, True])
    @pytest.mark.parametrize(
        "data",
        [
            "",
            "[]",
            "{}",
            "[" * 5000,
            '{"header": {"msg_id": 1, "msg_type": "x"}}',
            '{"header": {"msg_id": "1", "msg_type": "x"}, "channel": "iopub"}',
            b"\xff" * 64,
            b"\0\0\0\1\0\0\0\x08{",
            (7).to_bytes(8, "little") + b"\xff" * 56,
            (1 << 60).to_bytes(8, "little"),
        ],
    )
    def test_what_is_no_message_ends_its_sender(
        self, data: str | bytes, v1: bool, mine: Gateway, python: str
    ) -> None:
        with mine.front(python, v1=v1) as client:
            client._line.send(data)
            assert 1007 == client.closing()

    def test_code_that_breaks_the_protocol_ends_its_kernel_only(self, mine: Gateway) -> None:
        kernel_id = mine.start()
        code = (
            "import os, stat\n"
            "for fd in range(3, 64):\n"
            "    try:\n"
            "        if stat.S_ISSOCK(os.fstat(fd).st_mode): os.write(fd, b'\\xff' * 4096)\n"
            "    except OSError: pass\n"
            "while True: pass"
        )
        with mine.front(kernel_id) as client:
            assert "the kernel died" in text(client.answers(client.ask(code)))
            assert "2" == text(client.run("1 + 1"))
        mine.end(kernel_id)

    def test_idle_websockets_hold_up_nobody(self, mine: Gateway, python: str) -> None:
        """The control: each of them is alive, and hears what the kernel says."""
        with contextlib.ExitStack() as stack:
            idle = [stack.enter_context(mine.front(python, compression=None)) for _ in range(IDLE)]
            with mine.front(python) as client:
                assert "'heard'" == text(client.run("'heard'"))
            assert IDLE == mine.model(python)["connections"]
            for one in (idle[0], idle[-1]):
                one.until(lambda seen: "'heard'" == text([seen]))
        until(lambda: mine.model(python)["connections"] == 0)

    def test_a_client_that_does_not_read_holds_up_the_program(self, mine: Gateway) -> None:
        """Its program waits, the server's memory does not grow, and an interrupt still works."""
        import psutil

        process = psutil.Process(mine.server.process.pid)
        kernel_id = mine.start()
        with mine.front(kernel_id, max_queue=1, compression=None) as client:
            before = process.memory_info().rss
            client.ask("n = 0\nwhile True: n += 1; print('x' * 100_000, flush=True)")
            # It is held up where its last output does not change any more.
            moments: list[str] = []

            def stands_still() -> bool:
                moments.append(mine.model(kernel_id)["last_activity"])
                return len(moments) > 10 and 1 == len(set(moments[-10:]))

            until(stands_still)
            assert process.memory_info().rss - before < 100 << 20
            assert 204 == mine.ask("POST", f"/api/kernels/{kernel_id}/interrupt").status
            client.until(lambda one: one["msg_type"] == "execute_reply")
            shown = int(text(client.run("n")))
            assert shown < 2000
        mine.end(kernel_id)


def test_a_quota_counts_kernels(mine: Gateway) -> None:
    """The control: one that ends makes room for another."""
    kernels = []
    while (reply := mine.ask("POST", "/api/kernels", {"name": "bash"})).status == 201:
        kernels.append(reply.json["id"])
        assert len(kernels) < 20
    assert 429 == reply.status
    assert "sandboxes" in reply.json["message"]
    mine.end(kernels.pop())
    kernels.append(mine.start("bash"))
    for kernel_id in kernels:
        mine.end(kernel_id)


def test_the_end_of_the_server_waits_for_cells() -> None:
    """A cell that runs gets its time, and its client is told of the end."""
    with served("--drain", "30") as server:
        kernel = ask(server.port, "POST", "/api/kernels", {}).json["id"]
        with front(server.port, kernel) as client:
            name = client.ask("import time; time.sleep(2); 'ended'")
            client.is_busy(name)
            server.process.terminate()
            until(lambda: 503 == ask(server.port, "POST", "/api/kernels", {}).status)
            assert "'ended'" == text(client.answers(name))
            client.until(lambda one: state(one) == "dead")
            assert 1001 == client.closing()
        assert 0 == server.process.wait(PATIENCE_S)


def test_a_path_is_no_token(mine: Gateway) -> None:
    """A prefix opens Jupyter's routes alone."""
    assert 200 == ask(mine.server.port, "GET", f"/gw/{mine.key}/api").status
    assert 404 == ask(mine.server.port, "GET", f"/gw/{mine.key}/v2/sandboxes").status
    assert 404 == ask(mine.server.port, "GET", f"/gw/{mine.key}/gw/{mine.key}/api").status
