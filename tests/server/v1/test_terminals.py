"""Terminals over websockets, with the websockets package's own client."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from llm_sandbox.server.keys import KeyFile
from tests.server.requests import ask
from tests.server.servers import Served, served


@pytest.fixture(scope="module")
def path(server: Served) -> str:
    """The path of a sandbox."""
    made = ask(server.port, "POST", "/v1/sandboxes", {})
    return f"/v1/sandboxes/{made.json['id']}"


def opened(server: Served, path: str, start: dict[str, Any]) -> ClientConnection:
    connection = connect(f"ws://127.0.0.1:{server.port}{path}/terminal", max_size=None)
    connection.send(json.dumps(start))
    return connection


def rest(connection: ClientConnection) -> tuple[bytes, bytes, dict[str, Any]]:
    """The output of a program, and its last message."""
    streams = {1: b"", 2: b""}
    last: dict[str, Any] = {}
    for message in connection:
        if isinstance(message, bytes):
            streams[message[0]] += message[1:]
        else:
            last = json.loads(message)
    return streams[1], streams[2], last


class TestTerminal:
    def test_a_shell_has_a_terminal_that_is_resized(self, server: Served, path: str) -> None:
        with opened(server, path, {"terminal": {"rows": 11, "cols": 42}}) as connection:
            connection.send(b"stty size\n")
            seen = b""
            while b"11 42" not in seen:
                message = connection.recv(30)
                seen += message[1:] if isinstance(message, bytes) else b""
            connection.send(json.dumps({"type": "resize", "rows": 50, "cols": 99}))
            connection.send(b"stty size; exit 7\n")
            out, _, last = rest(connection)
        assert b"50 99" in out
        assert ("exit", 7, None) == (last["type"], last["exit_code"], last["signal"])

    def test_a_program_with_pipes(self, server: Served, path: str) -> None:
        start = {
            "command": ["sh", "-c", "cat; echo $A >&2; pwd"],
            "terminal": None,
            "env": {"A": "b"},
            "cwd": "/tmp",
        }
        with opened(server, path, start) as connection:
            connection.send(b"\x00\xffin")
            connection.send(json.dumps({"type": "eof"}))
            out, err, last = rest(connection)
        assert (b"\x00\xffin/tmp\n", b"b\n", 0) == (out, err, last["exit_code"])

    @pytest.mark.parametrize(
        ("control", "code"),
        [({"type": "kill"}, 137), ({"type": "signal", "number": 2}, 130)],
    )
    def test_a_program_is_ended(
        self, server: Served, path: str, control: dict[str, Any], code: int
    ) -> None:
        start = {"command": ["sleep", "1000"], "terminal": None}
        with opened(server, path, start) as connection:
            assert "start" == json.loads(connection.recv(30))["type"]
            connection.send(json.dumps(control))
            assert code == rest(connection)[2]["exit_code"]

    def test_a_program_ends_with_its_time_and_with_its_client(
        self, server: Served, path: str
    ) -> None:
        late = {"command": "sleep 1000", "timeout": 0.2}
        with opened(server, path, late) as connection:
            assert rest(connection)[2]["timed_out"]
        with opened(server, path, {"command": ["sleep", "4321"]}) as connection:
            connection.recv(30)
        look = {
            "command": "for i in $(seq 100); do pgrep -f 'sleep 432[1]' || exit 0; sleep 0.1; done"
        }
        found = ask(server.port, "POST", f"{path}/exec", look).json
        assert 0 == found["exit_code"]

    def test_what_cannot_be_started_is_a_typed_error(self, server: Served, path: str) -> None:
        with opened(server, path, {"command": ["nothing"]}) as connection:
            error = rest(connection)[2]["error"]
        assert "LaunchError" == error["type"]
        for start in ({"colour": 1}, {"terminal": {"rows": 0}}):
            with opened(server, path, start) as connection:
                assert "ValidationError" == rest(connection)[2]["error"]["type"]

    def test_a_message_without_sense_is_told_and_the_program_goes_on(
        self, server: Served, path: str
    ) -> None:
        with opened(server, path, {"command": "read a; exit 5"}) as connection:
            connection.recv(30)
            connection.send("{")
            connection.send(json.dumps({"type": "resize", "rows": 0}))
            errors = [json.loads(connection.recv(30))["error"]["type"] for _ in range(2)]
            connection.send(b"\n")
            assert (["ValidationError"] * 2, 5) == (errors, rest(connection)[2]["exit_code"])

    def test_a_sandbox_that_is_not_there(self, server: Served) -> None:
        with pytest.raises(InvalidStatus) as caught:
            opened(server, "/v1/sandboxes/none", {})
        assert 404 == caught.value.response.status_code


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str, str]]:
    keys = KeyFile(Path(tmp_path_factory.mktemp("keys")) / "keys.json")
    mine, other = keys.create("mine"), keys.create("other")
    with served("--keys", str(keys.path)) as server:
        yield server, mine, other


@pytest.mark.redteam
def test_a_terminal_needs_the_tenants_key(keyed: tuple[Served, str, str]) -> None:
    """No key, another tenant's and a page of another origin are refused; the own one works."""
    server, mine, other = keyed
    made = ask(server.port, "POST", "/v1/sandboxes", {}, {"X-API-Key": mine}).json
    for service in ("terminal", "file-service"):
        url = f"ws://127.0.0.1:{server.port}/v1/sandboxes/{made['id']}/{service}"
        foreign = {"X-API-Key": mine, "Origin": "https://attacker.example"}
        for headers, status in (({}, 401), ({"X-API-Key": other}, 404), (foreign, 403)):
            with pytest.raises(InvalidStatus) as caught:
                connect(url, additional_headers=headers)
            assert status == caught.value.response.status_code
    word = "bearer." + base64.urlsafe_b64encode(mine.encode()).decode().rstrip("=")
    url = f"ws://127.0.0.1:{server.port}/v1/sandboxes/{made['id']}/terminal"
    with connect(url, subprotocols=["llm-sandbox.v1", word]) as connection:
        assert "llm-sandbox.v1" == connection.subprotocol
        connection.send(json.dumps({"command": "exit 3"}))
        assert 3 == rest(connection)[2]["exit_code"]
    service = url.replace("terminal", "file-service")
    with connect(service, additional_headers={"X-API-Key": mine}) as connection:
        assert "another version" in json.loads(connection.recv(30))["error"]["message"]
        with pytest.raises(ConnectionClosed):
            connection.recv(30)
