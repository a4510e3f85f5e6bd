"""Sandboxes that outlive the server, however it ends."""

import contextlib
import http.client
import json
import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from llm_sandbox import Sandbox, create_session
from llm_sandbox.exceptions import SecurityError
from llm_sandbox.security import get_security_policy
from tests.server.requests import Reply, ask, create, inside
from tests.server.servers import Served, served

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("LLM_SANDBOX_TEST_KILLS", "3"))
"""Number of moments at which the server is killed."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A folder for a server's sandboxes, and a registry of detached ones for this test alone."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    yield str(tmp_path / "keep")
    for sandbox in Sandbox.list():
        sandbox.terminate()


@contextlib.contextmanager
def keeping(folder: str) -> Iterator[Served]:
    with served("--keep", folder, "--sandboxes", "100") as server:
        yield server


def shown(server: Served, made: dict[str, Any], code: str) -> list[str]:
    """Return the results that code shows in a sandbox, by the tokens of its creation."""
    reply = ask(server.port, "POST", "/execute", {"code": code}, inside(made, 49999))
    assert 200 == reply.status, reply.body
    lines = [json.loads(line) for line in reply.body.splitlines()]
    return [line["text"] for line in lines if line["type"] == "result"]


def seen(server: Served, made: dict[str, Any]) -> dict[str, Any]:
    """What the server says of a sandbox, with its end to the minute."""
    found: dict[str, Any] = ask(server.port, "GET", f"/sandboxes/{made['sandboxID']}").json
    end = datetime.fromisoformat(found.pop("endAt"))
    left = end - datetime.fromisoformat(found["startedAt"])
    return {**found, "minutes": round(left.total_seconds() / 60)}


def kill(server: Served) -> None:
    server.process.kill()
    server.process.wait(30)


def test_a_sandbox_outlives_its_server(folder: str) -> None:
    """Variables, files, deadline and tokens are those of before, killed or ended in order."""
    with keeping(folder) as server:
        made = create(server.port, metadata={"a": "b"})
        shown(server, made, "x = 41; open('f', 'w').write('kept')")
        before = seen(server, made)
        kill(server)
    with keeping(folder) as server:
        assert before == seen(server, made)
        assert ["42"] == shown(server, made, "x += 1; x")
        assert 0 == server.stop(signal.SIGTERM)
    with keeping(folder) as server:
        assert ["(42, 'kept')"] == shown(server, made, "x, open('f').read()")
        assert 204 == ask(server.port, "DELETE", f"/sandboxes/{made['sandboxID']}").status
        assert [] == Sandbox.list()
    with keeping(folder) as server:
        assert [] == ask(server.port, "GET", "/v2/sandboxes").json


def test_a_session_outlives_its_server(folder: str) -> None:
    """Its client goes on with its variables, its secrets and its policy."""
    options = {
        "security_policy": get_security_policy("production"),
        "secrets": {"KEY": "a-secret-value"},
        "env": {"PLAIN": "1"},
    }
    with keeping(folder) as server:
        session = create_session(server=server.url, **options)  # type: ignore[arg-type]
        session.open()
        assert 0 == session.run("import os; x = 41").exit_code
        written = [path.read_bytes() for path in Path(folder).iterdir()]
        assert not any(b"a-secret-value" in data for data in written)
        kill(server)
    with served("--keep", folder, "--port", str(server.port)):
        result = session.run("x += 1; print(x, len(os.environ['KEY']), os.environ['PLAIN'])")
        assert "42 14 1\n" == result.stdout
        with pytest.raises(SecurityError):
            session.run("import ctypes; ctypes.CDLL('libc.so.6').system(b'true')")
        session.close()
        assert [] == Sandbox.list()


def test_a_key_has_its_session_after_a_restart(folder: str) -> None:
    body = {"workdir": "/tmp", "secrets": {"KEY": "one"}}
    headers = {"Idempotency-Key": "first"}
    with keeping(folder) as server:
        made = ask(server.port, "POST", "/v1/sessions", body, headers).json
        kill(server)
    with keeping(folder) as server:
        again = ask(server.port, "POST", "/v1/sessions", body, headers)
        assert (201, made["id"]) == (again.status, again.json["id"])
        other = {**body, "secrets": {"KEY": "two"}}
        refused = ask(server.port, "POST", "/v1/sessions", other, headers)
        assert (422, True) == (refused.status, "another request" in refused.json["detail"])


def test_a_folder_is_for_one_server(folder: str) -> None:
    """The control: without the folder, a sandbox ends with its server."""
    with keeping(folder):
        refused = pytest.raises(AssertionError, match="another server keeps")
        with refused, keeping(folder):
            pass
    with served() as server:
        made = create(server.port)
        kill(server)
    with served() as server:
        assert 404 == ask(server.port, "GET", f"/sandboxes/{made['sandboxID']}").status


def test_a_server_killed_under_load_doubles_and_loses_nothing(folder: str) -> None:
    """Each key has one sandbox, whichever answer was lost, and there are no others."""
    answered: dict[str, str] = {}
    keys = [f"key-{number}" for number in range(2 * KILLS)]
    chance = random.Random(1)
    for round_ in range(KILLS):
        with keeping(folder) as server:
            threads = [
                threading.Thread(target=_create, args=(server, key, answered))
                for key in keys[: 2 * (round_ + 1)]
            ]
            for thread in threads:
                thread.start()
            time.sleep(chance.uniform(0.0, 2.0))
            kill(server)
            for thread in threads:
                thread.join(60)
    with keeping(folder) as server:
        before = dict(answered)
        for key in keys:
            _create(server, key, answered)
        assert before.items() <= answered.items()
        assert len(keys) == len(set(answered.values()))
        listed = {one["sandboxID"] for one in ask(server.port, "GET", "/v2/sandboxes").json}
        assert set(answered.values()) == listed
        end = time.monotonic() + 60
        while len(Sandbox.list()) > len(listed) and time.monotonic() < end:
            time.sleep(0.2)
        assert {one.rpartition("-")[2] for one in _names()} == listed


def _names() -> list[str]:
    return [sandbox.name or "" for sandbox in Sandbox.list()]


def _create(server: Served, key: str, answered: dict[str, str]) -> None:
    body = {"templateID": "base", "timeout": 900}
    reply: Reply
    try:
        reply = ask(server.port, "POST", "/v2/sandboxes", body, {"Idempotency-Key": key})
    except (OSError, http.client.HTTPException):
        return
    assert 201 == reply.status, reply.body
    assert answered.setdefault(key, reply.json["sandboxID"]) == reply.json["sandboxID"]
