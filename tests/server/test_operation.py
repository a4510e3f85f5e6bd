"""Operation of a server: keys on the command line, health, quotas, and its end."""

import contextlib
import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from llm_sandbox.exceptions import SecurityError, UnsupportedError, ValidationError
from llm_sandbox.server.keys import KeyFile
from llm_sandbox.server.options import Quotas, ServerOptions
from tests.server.requests import ask, create, inside
from tests.server.servers import ROOT, Served, served, until

pytestmark = pytest.mark.slow

_FEW_FILES = 256
"""Less than the connections of one of the tests."""


def cli(*words: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "llm_sandbox", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)


class TestCommandLine:
    def test_beyond_loopback_keys_are_needed(self, tmp_path: Path) -> None:
        refused = cli("serve", "--host", "0.0.0.0", "--port", "0")
        assert 2 == refused.returncode
        assert "whoever reaches 0.0.0.0 could run code here" in refused.stderr
        assert "llm-sandbox key create" in refused.stderr
        empty = tmp_path / "none.json"
        assert 2 == cli("serve", "--host", "0.0.0.0", "--keys", str(empty)).returncode

    def test_keys_are_made_listed_and_revoked(self, tmp_path: Path) -> None:
        file = str(tmp_path / "keys.json")
        made = cli("key", "create", "ci", "--keys", file, "--tenant", "team", "--days", "1")
        assert re.fullmatch(r"e2b_[0-9a-f]{40}\n", made.stdout), made.stderr
        listed = cli("key", "list", "--keys", file).stdout
        assert listed.startswith("ci\tteam\trun,metrics\texpires 2")
        assert made.stdout.strip() not in listed
        assert 0 == cli("key", "revoke", "ci", "--keys", file).returncode
        assert 125 == cli("key", "revoke", "ci", "--keys", file).returncode

    def test_a_key_has_known_scopes_and_a_name_of_its_own(self, tmp_path: Path) -> None:
        file = str(tmp_path / "keys.json")
        assert "run, metrics" in cli("key", "create", "a", "--keys", file, "--scope", "x").stderr
        assert 0 == cli("key", "create", "a", "--keys", file).returncode
        assert "already" in cli("key", "create", "a", "--keys", file).stderr

    def test_what_isolates_nothing_is_not_served(self) -> None:
        refused = cli("serve", "--backend", "local", "--port", "0")
        assert "it isolates nothing" in refused.stderr

    @pytest.mark.root
    def test_limits_that_cannot_be_enforced_are_refused_at_once(self) -> None:
        """In a mount namespace without control groups; the control has no limit that needs one."""
        hide = 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"'
        words = ("-m", "llm_sandbox", "serve", "--backend", "bubblewrap", "--port", "0")
        command = ["unshare", "--mount", "sh", "-c", hide, "sh", sys.executable, *words]
        options: dict[str, Any] = {"stderr": subprocess.PIPE, "text": True, "cwd": ROOT}
        refused = subprocess.run([*command, "--cpus", "0.5"], timeout=60, check=False, **options)
        assert (2, True) == (refused.returncode, "limits.cpus is not" in refused.stderr)
        with subprocess.Popen(command, **options) as server:
            assert server.stderr is not None
            assert server.stderr.readline().startswith("serving at http://127.0.0.1:")
            server.terminate()
            assert 0 == server.wait(30)

    def test_an_address_in_use_is_said_to_be(self, server: Served) -> None:
        refused = cli("serve", "--port", str(server.port))
        assert (2, True) == (refused.returncode, "in use" in refused.stderr)


class TestOptions:
    def test_keys_that_others_can_read_are_refused(self, tmp_path: Path) -> None:
        keys = KeyFile(tmp_path / "keys.json")
        keys.create("one")
        keys.path.chmod(0o644)
        with pytest.raises(SecurityError, match="other users"):
            KeyFile(keys.path).find("x")

    def test_something_else_than_keys_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "keys.json"
        path.write_text("[]")
        path.chmod(0o600)
        with pytest.raises(ValidationError, match="not a file of keys"):
            KeyFile(path).find("x")

    def test_options_are_checked(self) -> None:
        with pytest.raises(UnsupportedError, match="isolates nothing"):
            ServerOptions(backend="local")
        with pytest.raises(ValidationError, match="network"):
            ServerOptions(network="open")  # type: ignore[arg-type]
        with pytest.raises(ValidationError, match="domain"):
            ServerOptions(domain="a b")
        with pytest.raises(ValidationError, match="sandboxes"):
            Quotas(sandboxes=-1)
        with pytest.raises(ValidationError, match="longest_s"):
            ServerOptions(longest_s=0)
        with pytest.raises(ValidationError, match="longest_program_s"):
            ServerOptions(longest_program_s=0)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_it_has_as_many_connections_as_it_may_have() -> None:
    """The control: it was started where open files are limited to fewer than these."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.ExitStack() as stack:
        resource.setrlimit(resource.RLIMIT_NOFILE, (_FEW_FILES, hard))
        try:
            server = stack.enter_context(served())
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for _ in range(_FEW_FILES):
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port), 30))
        made = create(server.port)
        assert 204 == ask(server.port, "DELETE", f"/sandboxes/{made['sandboxID']}").status


class TestHealth:
    def test_it_is_healthy_and_ready(self, server: Served) -> None:
        assert (200, b"ok\n") == _pair(server, "/healthz")
        assert (200, b"ready\n") == _pair(server, "/readyz")

    def test_every_answer_has_an_id_that_is_logged(self, server: Served) -> None:
        name = ask(server.port, "GET", "/healthz").headers["x-request-id"]
        until(lambda: any(line["id"] == name for line in server.log))

    def test_metrics_count(self, server: Served) -> None:
        create(server.port)
        text = ask(server.port, "GET", "/metrics").body.decode()
        count = re.search(
            r'llm_sandbox_sandboxes\{api="e2b",backend="bubblewrap",lang="python",tenant="local"\} '
            r"([0-9.]+)",
            text,
        )
        assert count is not None, text
        assert float(count[1]) >= 1
        assert 'llm_sandbox_requests_total{api="e2b",route="create",status="201"}' in text

    def test_an_unknown_route_is_not_found(self, server: Served) -> None:
        assert "/ui/" == ask(server.port, "GET", "/").headers["location"]
        for path in ("/nothing", "/v1/nothing", "/api/nothing", "/sandboxes/a/b/c"):
            assert 404 == ask(server.port, "GET", path).status


class TestEnd:
    def test_running_code_gets_its_time(self) -> None:
        """After SIGTERM nothing new is created, what runs goes on, and then all has ended."""
        with served("--drain", "30") as server:
            made = create(server.port)
            replies: list[Any] = []
            text = "import time; print('begun', flush=True); time.sleep(3); print('ended')"

            def run() -> None:
                body = {"code": text}
                replies.append(ask(server.port, "POST", "/execute", body, inside(made, 49999)))

            thread = threading.Thread(target=run)
            thread.start()
            time.sleep(1.5)
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.5)
            refused = ask(server.port, "POST", "/v2/sandboxes", {"templateID": "base"})
            assert 503 == refused.status
            assert "retry-after" in refused.headers
            assert 503 == ask(server.port, "GET", "/readyz").status
            assert 200 == ask(server.port, "GET", "/healthz").status
            thread.join(60)
            assert b"ended" in replies[0].body
            assert b"end_of_execution" in replies[0].body
            assert 0 == server.process.wait(60)

    @pytest.mark.parametrize("twice", [True, False])
    def test_code_that_does_not_end_is_ended(self, twice: bool) -> None:
        """With its time, or at once with a second signal."""
        with served("--drain", "60" if twice else "1") as server:
            made = create(server.port)
            started = threading.Event()

            def run() -> None:
                started.set()
                try:
                    body = {"code": "while True: pass"}
                    ask(server.port, "POST", "/execute", body, inside(made, 49999))
                except (OSError, http.client.HTTPException):
                    return

            thread = threading.Thread(target=run)
            thread.start()
            started.wait(10)
            time.sleep(1)
            server.process.send_signal(signal.SIGTERM)
            if twice:
                time.sleep(0.5)
                server.process.send_signal(signal.SIGTERM)
            assert 0 == server.process.wait(50)
            thread.join(30)

    def test_a_killed_server_leaves_no_sandbox(self) -> None:
        with served() as server:
            made = create(server.port)
            mark = f"7654321.{os.getpid()}"
            body = {"code": f"import subprocess; subprocess.Popen(['sleep', '{mark}'])"}
            ask(server.port, "POST", "/execute", body, inside(made, 49999))
            assert _runs(mark)
            server.process.kill()
            server.process.wait(30)
            deadline = time.monotonic() + 30
            while _runs(mark) and time.monotonic() < deadline:
                time.sleep(0.1)
            assert not _runs(mark)


def _runs(mark: str) -> bool:
    import psutil

    return any(
        mark in (process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])
    )


def _pair(server: Served, path: str) -> tuple[int, bytes]:
    reply = ask(server.port, "GET", path)
    return reply.status, reply.body
