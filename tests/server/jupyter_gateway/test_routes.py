"""Routes and keys of the gateway."""

import re
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

from tests.server.fronts import front, text
from tests.server.jupyter_gateway.gateways import Gateway
from tests.server.requests import ask
from tests.server.servers import until


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


def test_a_path_is_no_token(mine: Gateway) -> None:
    """A prefix opens Jupyter's routes alone."""
    assert 200 == ask(mine.server.port, "GET", f"/gw/{mine.key}/api").status
    assert 404 == ask(mine.server.port, "GET", f"/gw/{mine.key}/v2/sandboxes").status
    assert 404 == ask(mine.server.port, "GET", f"/gw/{mine.key}/gw/{mine.key}/api").status


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
