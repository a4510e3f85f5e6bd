"""The server's own API, by plain requests."""

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from llm_sandbox.data import ExecutionResult, ProcessResult
from llm_sandbox.exceptions import SandboxError, SecurityViolationError
from llm_sandbox.server.keys import KeyFile
from tests.server.requests import Reply, ask
from tests.server.servers import Served, served
from tests.server.v1.events import Event, stream


def make(server: Served, **options: Any) -> str:
    reply = ask(server.port, "POST", "/v1/sessions", options)
    assert 201 == reply.status, reply.body
    return str(reply.json["id"])


@pytest.fixture(scope="module")
def session(server: Served) -> str:
    """The path of a session for tests that do not mind its variables."""
    return f"/v1/sessions/{make(server)}"


def run(server: Served, session: str, code: str, **options: Any) -> ExecutionResult:
    reply = ask(server.port, "POST", f"{session}/run", {"code": code, **options})
    assert 200 == reply.status, reply.body
    return ExecutionResult.from_dict(reply.json)


def problem(reply: Reply, status: int) -> dict[str, Any]:
    assert (status, "application/problem+json") == (reply.status, reply.headers["content-type"])
    found: dict[str, Any] = reply.json
    assert status == found["status"]
    return found


class TestSessions:
    def test_a_session_is_made_found_and_ended(self, server: Served) -> None:
        name = make(server, metadata={"who": "me"}, session_timeout=600)
        path = f"/v1/sessions/{name}"
        facts = ask(server.port, "GET", path).json
        assert ("idle", {"who": "me"}, "python") == tuple(
            facts[key] for key in ("state", "metadata", "language")
        )
        assert 590 < facts["ends_at"] - facts["started_at"] < 601
        assert name in [one["id"] for one in ask(server.port, "GET", "/v1/sessions").json]
        longer = ask(server.port, "POST", f"{path}/timeout", {"seconds": 3600}).json
        assert longer["ends_at"] > facts["ends_at"] + 2900
        assert 204 == ask(server.port, "DELETE", path).status
        found = problem(ask(server.port, "GET", path), 404)
        assert ("sandbox_not_found", False) == (found["code"], found["retryable"])

    def test_use_is_measured(self, server: Served, session: str) -> None:
        path = f"/v1/sandboxes/{session.rpartition('/')[2]}/usage"
        before = ask(server.port, "GET", path).json
        code = "import time; kept = bytearray(100_000_000)\nwhile time.process_time() < 1: pass"
        run(server, session, code)
        after = ask(server.port, "GET", path).json
        assert after["cpu_s"] - before["cpu_s"] > 0.5
        assert after["memory_bytes"] - before["memory_bytes"] > 90_000_000
        assert after["memory_bytes"] < after["memory_limit_bytes"]
        assert after["time"] > before["time"]

    def test_sandboxes_of_other_apis_are_sandboxes_and_no_sessions(self, server: Served) -> None:
        from tests.server.requests import create

        name = create(server.port)["sandboxID"]
        assert "e2b" == ask(server.port, "GET", f"/v1/sandboxes/{name}").json["api"]
        assert name in [one["id"] for one in ask(server.port, "GET", "/v1/sandboxes").json]
        problem(ask(server.port, "GET", f"/v1/sessions/{name}"), 404)
        assert 204 == ask(server.port, "DELETE", f"/v1/sandboxes/{name}").status

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ({"mounts": {"/data": "/etc"}}, "mounts is not supported"),
            ({"backend": "local"}, "the operator of this server has chosen it"),
            ({"runtime_configs": {"privileged": True}}, "options of the engine are the operator's"),
            ({"limits": {"memory": "900g"}}, "the operator of this server allows"),
            ({"limits": {"artifacts": 100_000}}, "the operator of this server allows 200"),
            ({"network": "internet"}, "the operator of this server has closed it"),
            ({"network": "open"}, "the operator of this server has closed it"),
            ({"libraries": ["requests"]}, "libraries is not supported"),
            ({"session_timeout": 1e9}, "at most 86400 seconds"),
            ({"template": "mine"}, "templates of this server: base"),
            ({"lang": "cobol"}, "cobol"),
            ({"colour": "red"}, "colour"),
            ({"memory": "1g", "limits": {"memory": "1g"}}, "memory is given twice"),
            ({"security_policy": "none"}, "there is no security policy"),
            ({"workdir": "/etc/x"}, "workdir cannot be below /etc"),
        ],
        ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
    )
    def test_what_a_client_may_not_ask_for_is_refused_in_words(
        self, server: Served, options: dict[str, Any], words: str
    ) -> None:
        reply = ask(server.port, "POST", "/v1/sessions", options)
        found = problem(reply, reply.status)
        assert reply.status in (400, 404)
        assert words in f"{found['detail']} {found['hint']}"

    def test_limits_are_narrowed(self, server: Served) -> None:
        """A session gets what it asks for where that is less than the operator's."""
        path = f"/v1/sessions/{make(server, memory='256m', limits={'processes': 20})}"
        limits = ask(server.port, "GET", path).json["limits"]
        assert (256 << 20, 20) == (limits["memory_bytes"], limits["processes"])
        made = "import subprocess\n[subprocess.Popen(['sleep', '9']) for _ in range(40)]"
        assert 0 != run(server, path, made).exit_code
        ask(server.port, "DELETE", path)


class TestRuns:
    def test_a_result_is_the_librarys(self, server: Served, session: str) -> None:
        result = run(server, session, "import sys; print('out'); print('err', file=sys.stderr)\n42")
        assert ("out\n", "err\n", "42", 0) == (
            result.stdout,
            result.stderr,
            result.value,
            result.exit_code,
        )

    def test_a_timeout_is_a_result(self, server: Served, session: str) -> None:
        result = run(server, session, "print('x', flush=True)\nwhile True: pass", timeout=0.5)
        assert (True, 124, "x\n") == (result.timed_out, result.exit_code, result.stdout)

    def test_events_have_ids_and_end_with_the_result(self, server: Served, session: str) -> None:
        body = {"code": "print('a')\ndisplay('b')\n1/0"}
        with stream(server.port, "POST", f"{session}/run", body) as events:
            found = list(events)
        assert ["output"] * 3 + ["result"] == [event.name for event in found]
        number = found[0].id.partition("-")[0]
        assert [f"{number}-{place}" for place in (1, 2, 3, 4)] == [event.id for event in found]
        assert {"type": "stream", "name": "stdout", "text": "a\n"} == found[0].data
        result = ExecutionResult.from_dict(found[-1].data)
        assert "ZeroDivisionError" == getattr(result.error, "name", None)

    def test_a_stream_is_resumed_where_its_client_left(self, server: Served, session: str) -> None:
        """Code goes on without its client, which then gets what it has missed, once."""
        body = {"code": "print('a', flush=True)\nprint(input())", "interactive": True}
        seen: list[Event] = []
        with stream(server.port, "POST", f"{session}/run", body) as events:
            for event in events:
                seen.append(event)
                if event.name == "input":
                    break
        facts = ask(server.port, "GET", session).json
        assert ("running", True) == (facts["state"], facts["is_waiting"])
        number, _, last = seen[-1].id.partition("-")
        ask(server.port, "POST", f"{session}/input", {"text": "hello"})
        later = {"Last-Event-ID": seen[-1].id}
        with stream(server.port, "GET", f"{session}/runs/{number}/events", headers=later) as events:
            rest = list(events)
        assert f"{number}-{int(last) + 1}" == rest[0].id
        assert "a\nhello\n" == rest[-1].data["stdout"]
        with stream(server.port, "POST", f"{session}/run", body, later) as events:
            assert rest == list(events)

    def test_what_is_kept_no_longer_is_counted(self, server: Served, session: str) -> None:
        code = "for _ in range(4): display({'text/plain': 'x' * 3_000_000}, raw=True)"
        run(server, session, code)
        number = ask(server.port, "GET", f"{session}/runs").json[-1]["number"]
        with stream(server.port, "GET", f"{session}/runs/{number}/events") as events:
            found = list(events)
        assert ("gap", {"events": 2}) == (found[0].name, found[0].data)
        assert ["output", "output", "result"] == [event.name for event in found[1:]]

    def test_the_end_of_input(self, server: Served, session: str) -> None:
        body = {"code": "input()", "interactive": True}
        with stream(server.port, "POST", f"{session}/run", body) as events:
            assert "input" == next(events).name
            assert 204 == ask(server.port, "POST", f"{session}/input", {"text": None}).status
            assert "EOFError" == list(events)[-1].data["error"]["name"]
        found = problem(ask(server.port, "POST", f"{session}/input", {"text": "late"}), 400)
        assert "no code waits for input" == found["detail"]

    @pytest.mark.parametrize("code", ["while True: pass", "input()"])
    def test_code_is_interrupted(self, server: Served, session: str, code: str) -> None:
        body = {"code": f"print('begun', flush=True)\n{code}", "interactive": True}
        with stream(server.port, "POST", f"{session}/run", body) as events:
            assert "output" == next(events).name
            if code == "input()":
                assert "input" == next(events).name
            assert 204 == ask(server.port, "POST", f"{session}/interrupt").status
            assert list(events)[-1].data["exit_code"] in (1, 130)

    def test_a_restart_forgets_variables(self, server: Served, session: str) -> None:
        run(server, session, "gone = 1")
        assert 204 == ask(server.port, "POST", f"{session}/restart").status
        assert "NameError" == getattr(run(server, session, "gone").error, "name", None)

    def test_the_history_says_what_runs_have_done(self, server: Served, session: str) -> None:
        run(server, session, "open('made.txt', 'w').write('x')")
        run(server, session, "import os; os.remove('made.txt')")
        made, removed = ask(server.port, "GET", f"{session}/runs").json[-2:]
        assert (["made.txt"], []) == (made["files"], made["deleted"])
        assert ([], ["made.txt"], "done") == (
            removed["files"],
            removed["deleted"],
            removed["state"],
        )
        path = f"{session}/runs/{made['number']}"
        assert made == ask(server.port, "GET", path).json
        assert 0 == ask(server.port, "GET", f"{path}/result").json["exit_code"]
        problem(ask(server.port, "GET", f"{session}/runs/99999"), 404)

    def test_refused_code_is_a_typed_error(self, server: Served) -> None:
        """A policy's refusal is the library's own exception, and its findings are there."""
        path = f"/v1/sessions/{make(server, security_policy='production')}"
        reply = ask(server.port, "POST", f"{path}/run", {"code": "import os; os.system('true')"})
        error = SandboxError.from_dict(problem(reply, 403)["error"])
        assert isinstance(error, SecurityViolationError)
        (refused,) = ask(server.port, "GET", f"{path}/runs").json
        assert ("failed", "security_violation") == (refused["state"], refused["error"]["code"])
        ask(server.port, "DELETE", path)


class TestRepetition:
    def test_a_session_is_made_once(self, server: Served) -> None:
        key = {"Idempotency-Key": "one"}
        first, second = (ask(server.port, "POST", "/v1/sessions", {}, key) for _ in range(2))
        assert (201, first.json["id"]) == (second.status, second.json["id"])
        other = ask(server.port, "POST", "/v1/sessions", {"workdir": "/data"}, key)
        assert "another request" in problem(other, 422)["detail"]
        ask(server.port, "DELETE", f"/v1/sessions/{first.json['id']}")

    def test_code_runs_once(self, server: Served, session: str) -> None:
        """Requests with one key at the same time and later get the result of one run."""
        run(server, session, "count = 0")
        body, key = {"code": "count += 1\ncount"}, {"Idempotency-Key": "count"}
        replies: list[Reply] = []

        def repeat() -> None:
            replies.append(ask(server.port, "POST", f"{session}/run", body, key))

        threads = [threading.Thread(target=repeat) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        repeat()
        assert ["1"] * 4 == [reply.json["value"] for reply in replies]
        assert "2" == run(server, session, body["code"]).value

    def test_a_failure_is_tried_again(self, server: Served, session: str) -> None:
        path, key = f"{session}/files/moved", {"Idempotency-Key": "moved"}
        problem(ask(server.port, "DELETE", path, headers=key), 404)
        ask(server.port, "PUT", path, b"x")
        assert 204 == ask(server.port, "DELETE", path, headers=key).status
        assert 204 == ask(server.port, "DELETE", path, headers=key).status


class TestFiles:
    def test_files_are_written_listed_read_and_removed(self, server: Served, session: str) -> None:
        data = bytes(range(256)) * 9000
        made = ask(server.port, "PUT", f"{session}/files/folder/a.bin", data)
        assert (len(data), "file") == (made.json["size"], made.json["kind"])
        listed = ask(server.port, "GET", f"{session}/files?list=1&path=folder").json
        assert ["a.bin"] == [one["path"] for one in listed]
        deep = ask(server.port, "GET", f"{session}/files?depth=2").json
        assert "folder/a.bin" in [one["path"] for one in deep]
        read = ask(server.port, "GET", f"{session}/files/folder/a.bin")
        assert (data, "attachment") == (read.body, read.headers["content-disposition"])
        problem(ask(server.port, "GET", f"{session}/files/folder"), 400)
        problem(ask(server.port, "DELETE", f"{session}/files/folder"), 400)
        gone = ask(server.port, "DELETE", f"{session}/files/folder?recursive=true")
        assert 204 == gone.status
        assert (
            "file_not_found"
            == problem(ask(server.port, "GET", f"{session}/files/folder/a.bin"), 404)["code"]
        )

    def test_a_file_of_the_client_is_no_artifact_of_the_next_run(
        self, server: Served, session: str
    ) -> None:
        ask(server.port, "PUT", f"{session}/files/up.txt", b"up")
        assert () == run(server, session, "open('up.txt').read()").files

    def test_artifacts_have_data_and_content(self, server: Served, session: str) -> None:
        code = "import matplotlib.pyplot as plt\nplt.plot([1, 2, 4]); plt.title('T'); plt.show()"
        name = run(server, session, code).artifacts[0].id
        (facts,) = (
            one for one in ask(server.port, "GET", f"{session}/artifacts").json if one["id"] == name
        )
        assert ("figure", "T") == (facts["type"], facts["chart"]["title"])
        assert "content" not in facts
        content = ask(server.port, "GET", f"{session}/artifacts/{name}")
        assert content.body.startswith(b"\x89PNG")
        assert content.headers["content-security-policy"].startswith("sandbox")
        found = problem(ask(server.port, "GET", f"{session}/artifacts/{name}?mime=text/x"), 404)
        assert "has no form" in found["detail"]

    def test_what_was_done_is_a_page_and_a_notebook(self, server: Served, session: str) -> None:
        run(server, session, "print('<script>alert(1)</script>')")
        page = ask(server.port, "GET", f"{session}/report")
        assert b"&lt;script&gt;alert(1)" in page.body
        assert b"<script>alert(1)" not in page.body
        notebook = ask(server.port, "GET", f"{session}/notebook").json
        assert "print('<script>alert(1)</script>')" == "".join(notebook["cells"][-1]["source"])


class TestPrograms:
    def test_a_command_of_a_session(self, server: Served, session: str) -> None:
        body = {"command": "echo out; echo err >&2; exit 3"}
        result = ProcessResult.from_dict(ask(server.port, "POST", f"{session}/exec", body).json)
        assert (3, "out\n", "err\n") == (result.exit_code, result.stdout, result.stderr)
        late = ask(server.port, "POST", f"{session}/exec", {"command": "sleep 9", "timeout": 0.3})
        assert (True, 124) == (late.json["timed_out"], late.json["exit_code"])

    def test_a_program_of_a_sandbox(self, server: Served) -> None:
        made = ask(server.port, "POST", "/v1/sandboxes", {}).json
        path = f"/v1/sandboxes/{made['id']}"
        body = {"command": ["sh", "-c", "cat; echo $A; pwd"], "env": {"A": "b"}, "stdin": "in\n"}
        assert "in\nb\n/sandbox\n" == ask(server.port, "POST", f"{path}/exec", body).json["stdout"]
        missing = ask(server.port, "POST", f"{path}/exec", {"command": ["nothing"]})
        assert "launch" == problem(missing, 400)["code"]
        assert 204 == ask(server.port, "DELETE", path).status

    def test_a_service_of_the_interpreter(self, server: Served, session: str) -> None:
        run(server, session, "answer = 42")
        body = {"service": "variables"}
        found = ask(server.port, "POST", f"{session}/call", body).json["content"]["variables"]
        assert ["int"] == [one["type"] for one in found if one["name"] == "answer"]
        problem(ask(server.port, "POST", f"{session}/call", {"service": "exit"}), 400)


class TestFacts:
    def test_code_is_scanned(self, server: Served) -> None:
        body = {"code": "import os; os.system('x')", "policy": "strict"}
        report = ask(server.port, "POST", "/v1/scan", body).json
        assert "os.system" in json.dumps(report["findings"])

    def test_what_the_server_has(self, server: Served) -> None:
        languages = ask(server.port, "GET", "/v1/languages").json
        assert "bubblewrap" in [one["backend"] for one in languages if one["name"] == "python"]
        backends = ask(server.port, "GET", "/v1/backends").json
        assert ["bubblewrap"] == [one["name"] for one in backends if one["is_used"]]
        assert "local" not in [one["name"] for one in backends]
        limits = ask(server.port, "GET", "/v1/limits").json
        assert ("blocked", 100) == (limits["network"], limits["quotas"]["sandboxes"])

    def test_bodies_are_bounded_and_judged(self, server: Served, session: str) -> None:
        large = b'{"code": "' + b"x" * (11 << 20) + b'"}'
        assert 413 == problem(ask(server.port, "POST", f"{session}/run", large), 413)["status"]
        for body in (b"{", b"[]", b"null", b'{"code": 1}', b'{"code": "1", "timeout": -1}'):
            problem(ask(server.port, "POST", f"{session}/run", body), 400)
        problem(ask(server.port, "GET", "/v1/nothing"), 404)
        problem(ask(server.port, "PATCH", "/v1/sessions"), 405)


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, dict[str, str]]]:
    """A server with keys of two tenants, of which one is an admin's."""
    keys = KeyFile(tmp_path_factory.mktemp("keys") / "keys.json")
    tokens = {
        "mine": keys.create("mine"),
        "other": keys.create("other"),
        "admin": keys.create("admin", scopes=["admin"]),
        "seen": keys.create("seen"),
        "viewer": keys.create("viewer", tenant="seen", scopes=["view"]),
    }
    with served("--keys", str(keys.path), "--sandboxes", "2", "--network", "internet") as server:
        yield server, tokens


@pytest.mark.redteam
class TestKeys:
    def test_another_tenants_session_is_not_there(
        self, keyed: tuple[Served, dict[str, str]]
    ) -> None:
        server, tokens = keyed
        mine, other = ({"X-API-Key": tokens[name]} for name in ("mine", "other"))
        made = ask(server.port, "POST", "/v1/sessions", {}, mine).json
        ways = [
            ("GET", "", None),
            ("DELETE", "", None),
            ("POST", "/run", {"code": "1"}),
            ("POST", "/interrupt", {}),
            ("GET", "/runs", None),
            ("GET", "/files", None),
            ("GET", "/files/x", None),
            ("PUT", "/files/x", b"x"),
            ("GET", "/report", None),
            ("GET", "/artifacts", None),
            ("POST", "/exec", {"command": "true"}),
            ("POST", "/call", {"service": "variables"}),
        ]
        for root in ("sessions", "sandboxes"):
            for method, rest, body in ways:
                path = f"/v1/{root}/{made['id']}{rest}"
                found = ask(server.port, method, path, body, other)
                assert 404 == found.status, (path, found.body)
                assert 401 == ask(server.port, method, path, body).status or root == "sandboxes"
        control = ask(server.port, "GET", f"/v1/sessions/{made['id']}", headers=mine)
        assert 200 == control.status
        assert [] == ask(server.port, "GET", "/v1/sandboxes", headers=other).json
        repeated = {"Idempotency-Key": "same"}
        one = ask(server.port, "POST", "/v1/sessions", {}, {**mine, **repeated}).json
        two = ask(server.port, "POST", "/v1/sessions", {}, {**other, **repeated}).json
        assert one["id"] != two["id"]
        full = ask(server.port, "POST", "/v1/sessions", {}, mine)
        assert (True, True) == (problem(full, 429)["retryable"], "retry-after" in full.headers)

    def test_addresses_of_the_servers_network_are_closed(
        self, keyed: tuple[Served, dict[str, str]]
    ) -> None:
        """Rules of a client open the public internet only; a public address is the control."""
        server, tokens = keyed
        key = {"X-API-Key": tokens["other"]}
        for rules in ({"cidrs": ["10.0.0.5"]}, {"cidrs": ["127.0.0.1:80"]}):
            reply = ask(server.port, "POST", "/v1/sessions", {"network": rules}, key)
            assert "public addresses only" in problem(reply, 400)["detail"]
        hosts = {"hosts": [["db.example", "192.168.1.2"]]}
        problem(ask(server.port, "POST", "/v1/sessions", {"network": hosts}, key), 400)
        problem(ask(server.port, "POST", "/v1/sessions", {"network": "open"}, key), 400)
        public = {"network": {"cidrs": ["93.184.215.14"]}}
        made = ask(server.port, "POST", "/v1/sessions", public, key)
        assert 201 == made.status, made.body
        path = f"/v1/sessions/{made.json['id']}"
        code = "import urllib.request; urllib.request.urlopen('http://closed.invalid')"
        body = {"code": code}
        assert 1 == ask(server.port, "POST", f"{path}/run", body, key).json["exit_code"]
        (event,) = ask(server.port, "GET", f"{path}/runs", headers=key).json[0]["network"]
        assert ("closed.invalid", True) == (event["name"], "opens it" in event["hint"])

    def test_keys_are_the_admins(self, keyed: tuple[Served, dict[str, str]]) -> None:
        server, tokens = keyed
        admin = {"Authorization": f"Bearer {tokens['admin']}"}
        problem(ask(server.port, "GET", "/v1/keys", headers={"X-API-Key": tokens["mine"]}), 403)
        problem(ask(server.port, "GET", "/v1/sessions", headers=admin), 403)
        made = ask(server.port, "POST", "/v1/keys", {"name": "new", "tenant": "t"}, admin)
        assert 201 == made.status, made.body
        new = {"X-API-Key": made.json["key"]}
        assert 200 == ask(server.port, "GET", "/v1/limits", headers=new).status
        listed = ask(server.port, "GET", "/v1/keys", headers=admin)
        assert {*tokens, "new"} == {one["name"] for one in listed.json}
        assert "digest" not in json.dumps(listed.json)
        assert 204 == ask(server.port, "DELETE", "/v1/keys/new", headers=admin).status
        problem(ask(server.port, "GET", "/v1/limits", headers=new), 401)
        problem(ask(server.port, "DELETE", "/v1/keys/new", headers=admin), 404)

    def test_a_viewer_reads_and_changes_nothing(self, keyed: tuple[Served, dict[str, str]]) -> None:
        server, tokens = keyed
        mine, viewer = ({"X-API-Key": tokens[name]} for name in ("seen", "viewer"))
        name = ask(server.port, "POST", "/v1/sessions", {}, mine).json["id"]
        path = f"/v1/sessions/{name}"
        assert 200 == ask(server.port, "POST", f"{path}/run", {"code": "1"}, mine).status
        assert ["view"] == ask(server.port, "GET", "/v1/limits", headers=viewer).json["scopes"]
        for route in ("/v1/sandboxes", path, f"{path}/runs", f"{path}/runs/1/result"):
            assert 200 == ask(server.port, "GET", route, headers=viewer).status, route
        for route in (f"{path}/files", f"/v1/sandboxes/{name}/usage"):
            assert 200 == ask(server.port, "GET", route, headers=viewer).status, route
        for method, route, body in (
            ("POST", "/v1/sessions", {}),
            ("POST", f"{path}/run", {"code": "1"}),
            ("POST", f"{path}/interrupt", None),
            ("POST", f"/v1/sandboxes/{name}/exec", {"command": "true"}),
            ("PUT", f"{path}/files/a", {}),
            ("DELETE", path, None),
        ):
            problem(ask(server.port, method, route, body, viewer), 403)
        assert 403 == ask(server.port, "GET", "/metrics", headers=viewer).status
        assert 204 == ask(server.port, "DELETE", path, headers=mine).status


def test_without_a_file_there_are_no_keys(server: Served) -> None:
    found = problem(ask(server.port, "GET", "/v1/keys"), 400)
    assert "llm-sandbox serve --keys FILE" == found["hint"]
