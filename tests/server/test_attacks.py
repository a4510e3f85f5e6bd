"""Attacks on a server with keys, each with a control that works."""

import base64
import contextlib
import gzip
import json
import os
import select
import socket
import stat
import struct
import time
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from llm_sandbox.server.keys import KeyFile
from tests.server.requests import Reply, ask, create, inside
from tests.server.servers import Served, served, until

pytestmark = pytest.mark.redteam
LIVES = int(os.environ.get("LLM_SANDBOX_TEST_LIVES", "12"))
"""Number of sandboxes that come and go."""
FORM = "multipart/form-data; boundary=b"


@dataclass
class Tenant:
    """A tenant's key and sandbox."""

    key: str
    made: dict[str, Any]

    @property
    def headers(self) -> dict[str, str]:
        return {"X-API-Key": self.key}

    @property
    def id(self) -> str:
        return str(self.made["sandboxID"])


@dataclass
class World:
    """A server with the sandboxes of two tenants."""

    server: Served
    keys: KeyFile
    mine: Tenant
    other: Tenant

    def ask(self, *arguments: Any, **options: Any) -> Reply:
        return ask(self.server.port, *arguments, **options)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    keys = KeyFile(tmp_path_factory.mktemp("keys") / "keys.json")
    tokens = [keys.create(name) for name in ("mine", "other")]
    keys.create("meter", scopes=["metrics"])
    with served("--keys", str(keys.path), "--sandboxes", "3", "--memory", "512m") as server:
        tenants = [
            Tenant(token, create(server.port, headers={"X-API-Key": token})) for token in tokens
        ]
        yield World(server, keys, *tenants)


class TestTenants:
    @pytest.mark.parametrize(
        ("method", "rest", "body"),
        [
            ("GET", "", None),
            ("GET", "/metrics", None),
            ("GET", "/logs", None),
            ("POST", "/timeout", {"timeout": 900}),
            ("POST", "/refreshes", {"duration": 900}),
            ("POST", "/connect", {"timeout": 900}),
            ("POST", "/pause", {}),
            ("POST", "/fork", {}),
            ("PUT", "/network", {}),
        ],
    )
    def test_another_tenants_sandbox_is_not_there(
        self, world: World, method: str, rest: str, body: Any
    ) -> None:
        """The answer is that for an id that nobody has."""
        path = f"/sandboxes/{world.other.id}{rest}"
        unknown = world.ask(method, f"/sandboxes/{'0' * 20}{rest}", body, world.mine.headers)
        refused = world.ask(method, path, body, world.mine.headers)
        assert 404 == refused.status == unknown.status
        assert refused.body.replace(world.other.id.encode(), b"0" * 20) == unknown.body
        # The control: its owner is answered.
        assert 404 != world.ask(method, path, body, world.other.headers).status

    def test_another_tenants_sandbox_is_not_killed(self, world: World) -> None:
        path = f"/sandboxes/{world.other.id}"
        assert 404 == world.ask("DELETE", path, None, world.mine.headers).status
        assert 200 == world.ask("GET", path, None, world.other.headers).status
        made = create(world.server.port, headers=world.other.headers)
        path = f"/sandboxes/{made['sandboxID']}"
        assert 204 == world.ask("DELETE", path, None, world.other.headers).status

    def test_another_tenants_sandbox_is_not_listed(self, world: World) -> None:
        mine = world.ask("GET", "/v2/sandboxes", None, world.mine.headers).json
        assert [world.mine.id] == [one["sandboxID"] for one in mine]
        other = world.ask("GET", "/v2/sandboxes", None, world.other.headers).json
        assert [world.other.id] == [one["sandboxID"] for one in other]

    @pytest.mark.parametrize("port", [49983, 49999, 8080])
    def test_a_token_opens_one_sandbox(self, world: World, port: int) -> None:
        """Neither the key nor the tokens of one tenant open the sandbox of another."""
        path, method, body = {
            49983: ("/files?path=x", "POST", b"x"),
            49999: ("/execute", "POST", {"code": "1"}),
            8080: ("/", "GET", None),
        }[port]
        mine = inside(world.mine.made, port)
        if port == 49983:
            mine["Content-Type"] = "application/octet-stream"
        stolen = {**mine, "E2b-Sandbox-Id": world.other.id, **world.mine.headers}
        assert 401 == world.ask(method, path, body, stolen).status
        assert 401 != world.ask(method, path, body, mine).status

    def test_idempotency_keys_are_each_tenants_own(self, world: World) -> None:
        key = {"Idempotency-Key": "same"}
        mine = create(world.server.port, headers={**world.mine.headers, **key})
        other = create(world.server.port, headers={**world.other.headers, **key})
        again = create(world.server.port, headers={**world.mine.headers, **key})
        assert mine["sandboxID"] == again["sandboxID"] != other["sandboxID"]
        for made, tenant in ((mine, world.mine), (other, world.other)):
            path = f"/sandboxes/{made['sandboxID']}"
            assert 204 == world.ask("DELETE", path, None, tenant.headers).status

    def test_tenants_do_not_use_up_each_others_quota(self, world: World) -> None:
        mine = [create(world.server.port, headers=world.mine.headers) for _ in range(2)]
        body = {"templateID": "base", "timeout": 30}
        full = world.ask("POST", "/v2/sandboxes", body, world.mine.headers)
        assert (429, True) == (full.status, "sandboxes of 3" in full.json["message"])
        assert int(full.headers["retry-after"]) > 0
        other = create(world.server.port, headers=world.other.headers)
        for made, tenant in (*((one, world.mine) for one in mine), (other, world.other)):
            path = f"/sandboxes/{made['sandboxID']}"
            assert 204 == world.ask("DELETE", path, None, tenant.headers).status


class TestKeys:
    @pytest.mark.parametrize(
        ("method", "path"),
        [
            ("GET", "/v2/sandboxes"),
            ("POST", "/v2/sandboxes"),
            ("GET", "/snapshots"),
            ("POST", "/run_code"),
            ("POST", "/run_jupyter"),
            ("GET", "/api/v2/runtimes"),
            ("POST", "/api/v2/execute"),
            ("GET", "/v1/containers"),
            ("POST", "/v1/containers"),
            ("GET", "/metrics"),
        ],
    )
    def test_every_route_needs_a_key(self, world: World, method: str, path: str) -> None:
        # No route makes anything of a list: a sandbox would be one of the tenant's three.
        body: list[Any] | None = [] if method == "POST" else None
        for headers in ({}, {"X-API-Key": "e2b_" + "0" * 40}, {"Authorization": "Bearer "}):
            assert 401 == world.ask(method, path, body, headers).status
        reply = world.ask(method, path, body, world.mine.headers)
        assert reply.status in ((400, 422) if method == "POST" else (200,)), reply.body

    @pytest.mark.parametrize("kind", ["X-API-Key", "Bearer", "token", "Basic"])
    def test_a_key_is_given_in_four_ways(self, world: World, kind: str) -> None:
        key = world.mine.key
        basic = base64.b64encode(f"user:{key}".encode()).decode()
        headers = {
            "X-API-Key": {"X-API-Key": key},
            "Basic": {"Authorization": f"Basic {basic}"},
        }.get(kind, {"Authorization": f"{kind} {key}"})
        assert 200 == world.ask("GET", "/v2/sandboxes", None, headers).status

    def test_a_scope_is_no_other(self, world: World) -> None:
        world.keys.revoke("meter")
        meter = {"X-API-Key": world.keys.create("meter", scopes=["metrics"])}
        assert 403 == world.ask("GET", "/v2/sandboxes", None, meter).status
        assert 200 == world.ask("GET", "/metrics", None, meter).status

    def test_a_revoked_key_opens_nothing_any_more(self, world: World) -> None:
        headers = {"X-API-Key": world.keys.create("short")}
        assert 200 == world.ask("GET", "/v2/sandboxes", None, headers).status
        assert world.keys.revoke("short")
        assert 401 == world.ask("GET", "/v2/sandboxes", None, headers).status

    def test_an_expired_key_opens_nothing(self, world: World) -> None:
        headers = {"X-API-Key": world.keys.create("late", ttl_s=-1)}
        assert 401 == world.ask("GET", "/v2/sandboxes", None, headers).status

    def test_the_file_has_no_key_in_clear(self, world: World) -> None:
        assert 0o600 == stat.S_IMODE(world.keys.path.stat().st_mode)
        assert world.mine.key not in world.keys.path.read_text()


class TestRequests:
    def test_a_rebound_name_is_refused(self, world: World) -> None:
        """A page whose name was pointed to this computer sends its own name."""
        for host, status in (
            (f"evil.example:{world.server.port}", 421),
            ("127.0.0.1.evil.example", 421),
            (f"localhost:{world.server.port}", 200),
            ("[::1]:80", 200),
        ):
            assert status == world.ask("GET", "/healthz", None, {"Host": host}).status

    def test_a_page_of_another_origin_is_refused(self, world: World) -> None:
        own = f"127.0.0.1:{world.server.port}"
        for origin, status in (
            ("https://evil.example", 403),
            ("null", 403),
            (f"http://127.0.0.1:{world.server.port + 1}", 403),
            (f"http://{own}", 200),
        ):
            headers = {"Host": own, "Origin": origin, **world.mine.headers}
            assert status == world.ask("GET", "/v2/sandboxes", None, headers).status

    @pytest.mark.parametrize("name", ["E2b-Sandbox-Id", "E2b-Sandbox-Port", "X-Access-Token"])
    def test_a_header_that_is_there_twice_is_refused(self, world: World, name: str) -> None:
        """A proxy before the server cannot check one value, and the server take another."""
        pairs = list(inside(world.mine.made).items())
        assert 200 == world.ask("GET", "/envs", None, pairs).status
        twice = [*pairs, (name, dict(inside(world.other.made))[name])]
        assert 400 == world.ask("GET", "/envs", None, twice).status

    def test_two_hosts_are_refused(self, world: World) -> None:
        pairs = [("Host", "localhost"), ("Host", "evil.example")]
        assert 400 == world.ask("GET", "/healthz", None, pairs).status

    @pytest.mark.parametrize(
        "extra",
        [
            b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
            b"Content-Length: 4\r\nContent-Length: 5\r\n",
            b"Transfer-Encoding: identity\r\n",
        ],
    )
    def test_a_body_of_two_lengths_is_refused(self, world: World, extra: bytes) -> None:
        def status(headers: bytes) -> bytes:
            with socket.create_connection(("127.0.0.1", world.server.port), 30) as line:
                head = b"POST /run_code HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                line.sendall(head + headers + b"\r\n{}{}")
                return line.recv(4096).split(b" ", 2)[1]

        assert b"401" == status(b"Content-Length: 4\r\n")
        assert status(extra) in (b"400", b"501")

    @pytest.mark.parametrize("port", ["0", "65536", "-1", "49983 ", "٤٩٩٨٣", "1e3", "9" * 5000])
    def test_a_port_is_a_number(self, world: World, port: str) -> None:
        headers = inside(world.mine.made) | {"E2b-Sandbox-Port": port.encode().decode("latin-1")}
        reply = world.ask("GET", "/envs", None, headers)
        assert reply.status in (400, 431) or port.strip() == "49983"

    def test_a_body_that_is_too_large_is_refused(self, world: World) -> None:
        data = b'{"code": "' + b"x" * (11 << 20) + b'"}'
        headers = inside(world.mine.made, 49999)
        assert 413 == world.ask("POST", "/execute", data, headers).status
        assert 200 == world.ask("POST", "/execute", {"code": "1"}, headers).status

    def test_deep_json_is_refused(self, world: World) -> None:
        data = b"[" * 200_000
        assert 400 == world.ask("POST", "/v2/sandboxes", data, world.mine.headers).status

    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"\0\0\0",
            struct.pack(">BI", 0, 1 << 31),
            struct.pack(">BI", 1, 2) + b"{}",
            b"\xff" * 9,
        ],
    )
    def test_a_malformed_envelope_is_refused(self, world: World, data: bytes) -> None:
        headers = inside(world.mine.made) | {"Content-Type": "application/connect+json"}
        reply = world.ask("POST", "/process.Process/Start", data, headers)
        assert 200 == reply.status
        assert "invalid_argument" == json.loads(reply.body[5:])["error"]["code"]

    def test_gzip_does_not_grow_without_bounds(self, world: World) -> None:
        """A small body that unpacks to more than a file of the sandbox may hold is refused."""
        headers = inside(world.mine.made) | {
            "Content-Type": "application/octet-stream",
            "Content-Encoding": "gzip",
        }
        bomb = gzip.compress(bytes(300 << 20), 1)
        assert len(bomb) < 4 << 20
        reply = world.ask("POST", "/files?path=bomb", bomb, headers, timeout=100)
        assert reply.status in (413, 507)
        small = gzip.compress(b"small")
        assert 200 == world.ask("POST", "/files?path=small", small, headers).status


class TestFiles:
    @pytest.mark.parametrize(
        "path", ["/etc/shadow", "../../../../etc/shadow", "/proc/1/environ", "/proc/self/root/etc"]
    )
    def test_paths_lead_to_nothing_of_this_computer(
        self, world: World, path: str, tmp_path: Path
    ) -> None:
        """A path is the sandbox's, whose files are none of this computer's."""
        headers = inside(world.mine.made)
        quoted = urllib.parse.quote(path)
        assert 200 != world.ask("GET", f"/files?path={quoted}", None, headers).status
        outside = tmp_path / "secret"
        outside.write_text("of this computer")
        assert 404 == world.ask("GET", f"/files?path={outside}", None, headers).status
        data = {**headers, "Content-Type": "application/octet-stream"}
        assert 200 == world.ask("POST", "/files?path=/tmp/own", b"own", data).status
        assert b"own" == world.ask("GET", "/files?path=/tmp/own", None, headers).body

    def test_a_link_leads_to_nothing_of_this_computer(self, world: World, tmp_path: Path) -> None:
        outside = tmp_path / "secret"
        outside.write_text("of this computer")
        code = (
            f"import os\nos.symlink({str(outside)!r}, 'outside')\n"
            "open('t', 'w').write('own'); os.symlink('t', 'own')"
        )
        headers = inside(world.mine.made)
        world.ask("POST", "/execute", {"code": code}, inside(world.mine.made, 49999))
        assert 404 == world.ask("GET", "/files?path=outside", None, headers).status
        assert b"own" == world.ask("GET", "/files?path=own", None, headers).body

    def test_a_download_is_never_a_page(self, world: World) -> None:
        """HTML and SVG from inside are not rendered in the origin of the server."""
        headers = inside(world.mine.made)
        data = {**headers, "Content-Type": "application/octet-stream"}
        world.ask("POST", "/files?path=x.html", b"<script>alert(1)</script>", data)
        reply = world.ask("GET", "/files?path=x.html", None, headers)
        assert "application/octet-stream" == reply.headers["content-type"]
        assert reply.headers["content-disposition"].startswith("attachment")
        assert "nosniff" == reply.headers["x-content-type-options"]

    def test_a_name_of_a_file_is_no_header(self, world: World) -> None:
        headers = inside(world.mine.made)
        data = {**headers, "Content-Type": "application/octet-stream"}
        path = urllib.parse.quote('a"\r\nSet-Cookie: x=1;\\.txt')
        assert 200 == world.ask("POST", f"/files?path={path}", b"x", data).status
        reply = world.ask("GET", f"/files?path={path}", None, headers)
        assert (200, b"x") == (reply.status, reply.body)
        assert "set-cookie" not in reply.headers


class TestLinks:
    def test_guessing_is_slowed_down(self, world: World) -> None:
        statuses = [world.ask("GET", f"/files?path=x&signature=v1_{n}").status for n in range(150)]
        assert {401, 429} == set(statuses)

    def test_a_parameter_that_is_there_twice_is_refused(self, world: World) -> None:
        path = "/files?path=a&path=b&signature=v1_x"
        assert world.ask("GET", path).status in (400, 429)


class TestLoad:
    @pytest.mark.slow
    def test_a_client_that_does_not_read_holds_up_itself_only(self, world: World) -> None:
        """Its program waits, others are answered, and the server's memory does not grow."""
        process = psutil.Process(world.server.process.pid)
        headers = inside(world.mine.made, 49999)
        assert 200 == world.ask("POST", "/execute", {"code": "1"}, headers).status
        before = process.memory_info().rss
        body = json.dumps({"code": "while True: print('x' * 10_000)"}).encode()
        lines = [f"{name}: {value}" for name, value in headers.items()]
        head = ["POST /execute HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}", *lines]
        with socket.create_connection(("127.0.0.1", world.server.port), 30) as line:
            line.sendall("\r\n".join(head).encode() + b"\r\n\r\n" + body)
            assert line.recv(12) == b"HTTP/1.1 200"
            time.sleep(3)
            assert 200 == world.ask("GET", "/healthz").status
            other = inside(world.other.made, 49999)
            assert b'"2"' in world.ask("POST", "/execute", {"code": "1 + 1"}, other).body
            assert process.memory_info().rss - before < 150 << 20
        # Its code was stopped with it, and the interpreter is there for the next one.
        assert b'"3"' in world.ask("POST", "/execute", {"code": "1 + 2"}, headers).body

    @pytest.mark.parametrize("path", ["/files?path=big", "/execute"])
    @pytest.mark.parametrize(
        "kind", ["application/octet-stream", "multipart/form-data; boundary=b"]
    )
    def test_ten_gigabytes_are_refused_before_they_come(
        self, world: World, path: str, kind: str
    ) -> None:
        """The control: a small body on the same route is read to its end, or refused as such."""
        port = 49999 if path == "/execute" else 49983
        content = {"octet-stream": "application/octet-stream"}.get(kind, FORM)
        headers = {**inside(world.mine.made, port), "Content-Type": content}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())

        def status(length: str, body: bytes) -> bytes:
            head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{lines}{length}\r\n\r\n"
            with socket.create_connection(("127.0.0.1", world.server.port), 30) as line:
                line.sendall(head.encode() + body)
                return line.recv(12)[9:]

        assert b"413" == status(f"Content-Length: {10 << 30}", b"--b\r\n")
        assert status("Content-Length: 2", b"{}") in (b"200", b"400")

    @pytest.mark.parametrize("path", ["/files?path=big", "/execute"])
    def test_a_body_without_an_end_is_cut_off(self, world: World, path: str) -> None:
        """The server holds little of it in memory; the control is the length that it took."""
        process = psutil.Process(world.server.process.pid)
        port = 49999 if path == "/execute" else 49983
        headers = {**inside(world.mine.made, port), "Content-Type": "application/octet-stream"}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        head = (
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{lines}Transfer-Encoding: chunked\r\n\r\n"
        )
        before, piece, sent = process.memory_info().rss, b"x" * (1 << 20), 0
        with socket.create_connection(("127.0.0.1", world.server.port), 60) as line:
            line.sendall(head.encode())
            with contextlib.suppress(ConnectionError):
                while sent < 4 << 30 and not select.select([line], [], [], 0)[0]:
                    line.sendall(b"100000\r\n" + piece + b"\r\n")
                    sent += len(piece)
            with contextlib.suppress(ConnectionError):
                assert line.recv(12)[9:] in (b"413", b"507", b"")
        assert 8 << 20 < sent < 3 << 30
        assert process.memory_info().rss - before < 150 << 20

    def test_idle_connections_hold_up_nobody(self, world: World) -> None:
        with contextlib.ExitStack() as idle:
            for _ in range(400):
                line = socket.create_connection(("127.0.0.1", world.server.port), 30)
                idle.enter_context(line).sendall(b"GET /healthz HTTP/1.1\r\nHost: lo")
            assert 200 == world.ask("GET", "/v2/sandboxes", None, world.mine.headers).status

    def test_sandboxes_leave_nothing_behind(self, world: World) -> None:
        process = psutil.Process(world.server.process.pid)

        def live(count: int) -> tuple[int, int, int]:
            for _ in range(count):
                # A tenant may create 600 in a minute.
                time.sleep(0.1)
                made = create(world.server.port, headers=world.mine.headers)
                code = {"code": "import subprocess; subprocess.Popen(['sleep', '600'])"}
                world.ask("POST", "/execute", code, inside(made, 49999))
                path = f"/sandboxes/{made['sandboxID']}"
                assert 204 == world.ask("DELETE", path, None, world.mine.headers).status
            deadline = time.monotonic() + 30
            while time.monotonic() < deadline:
                found = process.num_fds(), len(process.children(recursive=True))
                time.sleep(0.5)
                if found == (process.num_fds(), len(process.children(recursive=True))):
                    break
            return *found, process.memory_info().rss

        # As many as fill what the server keeps for its next sandboxes, and its pools of threads.
        descriptors, processes, memory = live(max(3, LIVES // 10))
        later = live(LIVES)
        print(
            f"{LIVES} lives: {later[0] - descriptors} descriptors, "
            f"{later[1] - processes} processes, {later[2] - memory} bytes more"
        )
        assert later[0] <= descriptors + 4
        assert later[1] <= processes + 2
        assert later[2] - memory < (16 << 20) + LIVES * 1024


class TestLogs:
    def test_the_log_has_no_code_no_tokens_and_no_paths(self, world: World) -> None:
        """The control: it has a line for each of the requests, with route and tenant."""
        words = ["w0rd-in-code", "w0rd-in-path", "w0rd-in-env"]
        made = create(world.server.port, headers=world.mine.headers, envVars={"A": words[2]})
        code = {"code": f"print('{words[0]}')"}
        world.ask("POST", "/execute", code, inside(made, 49999))
        world.ask("GET", f"/files?path={words[1]}", None, inside(made))
        world.ask("GET", f"/files?path={words[1]}&signature=v1_w0rd")
        world.ask("DELETE", f"/sandboxes/{made['sandboxID']}", None, world.mine.headers)
        asked = {("interpreter", "execute"), ("envd", "get_files"), ("e2b", "kill")}
        until(lambda: asked <= {(line["api"], line["route"]) for line in world.server.log})
        text = "".join(world.server.lines)
        secrets = [world.mine.key, made["envdAccessToken"], made["trafficAccessToken"]]
        for word in (*words, "v1_w0rd", *secrets, made["sandboxID"]):
            assert word not in text
        assert {"mine", "other"} <= {line["tenant"] for line in world.server.log}

    def test_metrics_have_no_ids(self, world: World) -> None:
        text = world.ask("GET", "/metrics", None, world.mine.headers).body.decode()
        assert 'llm_sandbox_requests_total{api="interpreter",route="execute"' in text
        assert world.mine.id not in text
        assert world.other.id not in text
