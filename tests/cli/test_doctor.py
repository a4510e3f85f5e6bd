"""`llm-sandbox doctor`: what it finds is what happens."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import SandboxBackend, create_session
from tests.cli.conftest import environment

ROOT = Path(__file__).resolve().parents[2]
NOWHERE = "unix:///nowhere/engine.sock"

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.conftest import Done  # for the type checker only

pytestmark = pytest.mark.slow


@pytest.mark.usefixtures("isolation")
def test_tables(cli: Callable[..., Done]) -> None:
    """One screen has the verdict first and names every backend; `-v` has all the rest."""
    done = cli("doctor", COLUMNS="80")
    assert 0 == done.code
    lines = done.out.splitlines()
    assert lines[0].startswith("Healthy: without --backend, code runs in bubblewrap")
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    for name in SandboxBackend:
        assert name in done.out
    assert "analysis: " in done.out
    assert "openpyxl" in done.out
    assert "\x1b" not in done.out
    everything = cli("doctor", "-v").out
    assert "What holds bubblewrap" in everything
    assert "ipykernel" in everything


@pytest.mark.usefixtures("isolation")
def test_json(cli: Callable[..., Done]) -> None:
    """The report is that of a session."""
    done = cli("doctor", "--json", DOCKER_HOST=NOWHERE)
    report = json.loads(done.out)
    assert (0, True) == (done.code, report["healthy"])
    found = {backend["name"]: backend for backend in report["backends"]}
    with create_session("bubblewrap") as session:
        isolation = session.isolation.to_dict()
    assert isolation["level"] == found["bubblewrap"]["level"]
    assert isolation["controls"].keys() == found["bubblewrap"]["controls"].keys()
    for name in ("docker", "micromamba"):
        assert not found[name]["works"]
        assert NOWHERE in found[name]["problem"]
        assert "DOCKER_HOST" in found[name]["hint"]
    assert found["bubblewrap"]["image"] is None
    assert "none" == found["local"]["level"]
    assert report["bwrap"]["path"].endswith("bwrap")
    assert {"scipy", "scikit-learn", "pyarrow"} < report["analysis"].keys()


def test_a_socket_for_others() -> None:
    """Who may not use an engine's socket is told which group to join; root may use any."""
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    folder.chmod(0o755)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "engine.sock"))
        listening.listen()
        (folder / "engine.sock").chmod(0o600)
        code = (
            "import os, sys\n"
            "from llm_sandbox.backends.engine_probe import permission_hint\n"
            "from llm_sandbox.backends.engine_probe import probe_engine\n"
            "os.setuid(int(sys.argv[1]))\n"
            "finding = probe_engine('docker', 'none', 1)\n"
            "print(permission_hint('docker', finding.problem, 'other'))\n"
        )
        said = [
            subprocess.run(
                [sys.executable, "-c", code, user],
                env=environment(DOCKER_HOST=f"unix://{folder}/engine.sock"),
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            for user in ("65534", "0")
        ]
    shutil.rmtree(folder)
    assert "usermod -aG docker $USER" in said[0]
    assert "other\n" == said[1]


@pytest.mark.engine("docker")
def test_an_engine(cli: Callable[..., Done]) -> None:
    """Its version, its place, and whether the image of sessions is there or how it is made."""
    report = json.loads(cli("doctor", "--json").out)
    docker = next(found for found in report["backends"] if found["name"] == "docker")
    assert docker["works"]
    assert docker["engine"].startswith("docker ")
    assert docker["image"].startswith("llm-sandbox/python:")
    if docker["has_image"]:
        assert docker["hint"] is None
    else:
        assert "llm-sandbox images build python --engine docker" == docker["hint"]
    assert docker["engine"] in cli("doctor", "-v").out


@pytest.mark.parametrize("installed", [True, False])
def test_the_other_project_of_this_name(
    cli: Callable[..., Done], tmp_path: Path, installed: bool
) -> None:
    """Two distributions that own the same files are told of, and how to be left with one."""
    about = tmp_path / "llm_sandbox-0.3.46.dist-info" / "METADATA"
    if installed:
        about.parent.mkdir()
        about.write_text("Metadata-Version: 2.1\nName: llm-sandbox\nVersion: 0.3.46\n")
    nowhere = {"DOCKER_HOST": NOWHERE, "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    told = "llm-sandbox 0.3.46 is installed here too" in cli("doctor", **nowhere).out
    assert installed == told
    found = json.loads(cli("doctor", "--json", **nowhere).out)["namesake"]
    assert installed == (found == "0.3.46")


def test_unhealthy(cli: Callable[..., Done]) -> None:
    """Without anything that is used unnamed it exits 1 and says what to do."""
    nothing = {
        "LLM_SANDBOX_BWRAP": "/bin/false",
        "DOCKER_HOST": NOWHERE,
        "CONTAINER_HOST": NOWHERE,
    }
    done = cli("doctor", "--json", **nothing)
    report = json.loads(done.out)
    assert (1, False) == (done.code, report["healthy"])
    assert report["default_backend"] is None
    found = {backend["name"]: backend for backend in report["backends"]}
    assert not found["bubblewrap"]["works"]
    assert found["bubblewrap"]["hint"]
    assert "bubblewrap" in cli("doctor", **nothing).out
