"""Packages of npm, from a registry made for the test and, where it is reached, from npm's own."""

from __future__ import annotations

import base64
import hashlib
import http.server
import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import SandboxSession
from llm_sandbox.exceptions import LibraryInstallationError, SandboxTimeoutError
from llm_sandbox.language_handlers.javascript.packages import NpmPackages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.languages.packages.installing import MakeInstaller

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

TOKEN = "token-of-the-test"


class Registry(http.server.ThreadingHTTPServer):
    """A registry that gives packages to who has the token."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.address = f"127.0.0.1:{self.server_address[1]}"
        self.packages: dict[str, dict[str, Any]] = {}
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.slow = threading.Event()
        self.released = threading.Event()

    def add(self, name: str, files: dict[str, str], **about: object) -> None:
        data = io.BytesIO()
        manifest = {"name": name, "version": "1.0.0", **about}
        with tarfile.open(fileobj=data, mode="w:gz") as archive:
            for path, text in {**files, "package.json": json.dumps(manifest)}.items():
                member = tarfile.TarInfo(f"package/{path}")
                member.size, member.mode = len(text.encode()), 0o755
                archive.addfile(member, io.BytesIO(text.encode()))
        digest = base64.b64encode(hashlib.sha512(data.getvalue()).digest()).decode()
        path = f"/files/{name}-1.0.0.tgz"
        self.files[path] = data.getvalue()
        where = {"tarball": f"http://{self.address}{path}", "integrity": f"sha512-{digest}"}
        versions = {"1.0.0": {**manifest, "dist": where}}
        self.packages[name] = {"name": name, "dist-tags": {"latest": "1.0.0"}, "versions": versions}


class Answer(http.server.BaseHTTPRequestHandler):
    server: Registry

    def do_GET(self) -> None:
        path = self.path.replace("%2f", "/")
        self.server.asked.append(path)
        if self.server.slow.is_set():
            self.server.released.wait(60)
            return
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self.send_error(401)
            return
        data = self.server.files.get(path)
        if data is None and path.lstrip("/") in self.server.packages:
            data = json.dumps(self.server.packages[path.lstrip("/")]).encode()
        if data is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def registry(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    """A registry, which the user's settings name."""
    for name in list(os.environ):
        if name.lower().startswith("npm_config_"):
            monkeypatch.delenv(name)
    with Registry() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        (home / ".npmrc").write_text(
            f"registry=http://{server.address}/\n//{server.address}/:_authToken=${{TEST_TOKEN}}\n"
            "ignore-scripts=false\nprefix=/nowhere\n"
        )
        (home / ".npmrc").chmod(0o600)
        monkeypatch.setenv("TEST_TOKEN", TOKEN)
        yield server
        server.released.set()
        server.shutdown()
        thread.join()


def test_packages_come_with_what_they_need(installer: MakeInstaller, registry: Registry) -> None:
    made = installer(NpmPackages())
    registry.add("below-demo", {"index.js": "module.exports = 'below'"})
    registry.add(
        "@scope/above-demo",
        {"index.js": "module.exports = 'above ' + require('below-demo')", "run.js": "#!node"},
        dependencies={"below-demo": "^1.0.0"},
        bin={"above": "run.js"},
    )
    layer = made.install("@scope/above-demo@^1.0")
    modules = layer.path / "node_modules"
    assert sorted(path.name for path in modules.iterdir()) == ["@scope", "below-demo"]
    done = subprocess.run(
        ["node", "-p", "require('@scope/above-demo')"],
        env={**os.environ, "NODE_PATH": str(modules)},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "above below\n"
    texts = [path.read_text() for path in layer.path.rglob("*") if path.is_file()]
    assert not any(TOKEN in text or registry.address in text for text in texts)
    assert made.leftovers == []


def test_no_code_of_packages_runs(
    installer: MakeInstaller, registry: Registry, tmp_path: Path
) -> None:
    made = installer(NpmPackages())
    script = f"touch {tmp_path}/ran ran"
    scripts = {"preinstall": script, "install": script, "postinstall": script, "prepare": script}
    registry.add("script-demo", {"index.js": "", "binding.gyp": "{}"}, scripts=scripts)
    layer = made.install("script-demo")
    assert sorted(path.name for path in layer.path.rglob("*") if path.is_file()) == [
        "binding.gyp",
        "index.js",
        "package.json",
    ]
    assert not (tmp_path / "ran").exists()


def test_a_second_request_asks_nobody(installer: MakeInstaller, registry: Registry) -> None:
    made = installer(NpmPackages())
    registry.add("once-demo", {"index.js": ""})
    layer = made.install("once-demo")
    asked = len(registry.asked)
    started = time.perf_counter()
    assert made.store.find(["once-demo"]) == layer
    assert time.perf_counter() - started < 0.5
    assert made.install("once-demo") == layer
    assert len(registry.asked) == asked


def test_an_error_has_npms_words_and_no_token(installer: MakeInstaller, registry: Registry) -> None:
    made = installer(NpmPackages())
    with pytest.raises(LibraryInstallationError, match="404") as caught:
        made.install("nothing-of-this-name")
    assert caught.value.packages == ("nothing-of-this-name",)
    assert TOKEN not in str(caught.value) + caught.value.output
    assert made.leftovers == []


def test_an_unreachable_registry_is_named(
    installer: MakeInstaller, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / ".npmrc").write_text("registry=http://127.0.0.1:9/\n")
    made = installer(NpmPackages())
    with pytest.raises(LibraryInstallationError) as caught:
        made.install("lodash")
    assert "npm's registry could not be reached" in str(caught.value.hint)


def test_a_timeout_leaves_nothing(installer: MakeInstaller, registry: Registry) -> None:
    made = installer(NpmPackages())
    registry.slow.set()
    with pytest.raises(SandboxTimeoutError) as caught:
        made.install("slow-demo", timeout_s=4)
    assert caught.value.timeout_duration == 4
    assert made.leftovers == []


def test_an_interruption_leaves_nothing(cache: Path, registry: Registry) -> None:
    registry.slow.set()
    code = (
        "from llm_sandbox import SandboxSession\n"
        "with SandboxSession(lang='javascript', backend='bubblewrap') as session:\n"
        "    print('open', flush=True)\n"
        "    session.install(['interrupted-demo'])\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        deadline = time.monotonic() + 60
        while not registry.asked and time.monotonic() < deadline:
            time.sleep(0.05)
        assert registry.asked
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert "KeyboardInterrupt" in errors
    assert list((cache / "layers-index" / "staging").iterdir()) == []
    assert list((cache / "layers").iterdir()) == []


def test_a_session_uses_packages_that_come_later(cache: Path, registry: Registry) -> None:
    registry.add("first-demo", {"index.js": "module.exports = 1"})
    registry.add("second-demo", {"index.js": "module.exports = 2"})
    with SandboxSession(lang="javascript", backend="bubblewrap") as session:
        assert session.run("const kept = 39").exit_code == 0
        session.install(["first-demo"])
        result = session.run("console.log(kept + require('first-demo'))")
        assert result.stdout == "40\n", result.stderr
        code = "console.log(kept + require('first-demo') + require('second-demo'))"
        result = session.run(code, libraries=["second-demo"])
        assert result.stdout == "42\n", result.stderr
        assert [entry.path for entry in result.artifacts] == []
    with SandboxSession(lang="typescript", backend="bubblewrap") as session:
        asked = len(registry.asked)
        result = session.run("console.log(require('first-demo'))", libraries=["first-demo"])
        assert result.stdout == "1\n", result.stderr
        assert len(registry.asked) == asked
