"""E2B's own SDK for JavaScript, unmodified, against a server."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.plugins.steps_table import PROPERTY
from tests.server.servers import Served

pytestmark = pytest.mark.slow

SDK = "@e2b/code-interpreter@2"
STEPS = Path(__file__).with_name("e2b_steps.mjs")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the SDK."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed: apt-get install npm")
    folder = tmp_path_factory.mktemp("sdk")
    (folder / "package.json").write_text("{}")
    command = [npm, "install", "--silent", "--no-audit", "--no-fund", SDK]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100)
    if done.returncode:
        pytest.skip(f"npm could not install {SDK}: {(done.stderr or done.stdout).strip()[-200:]}")
    return folder


def test_every_step_goes_as_against_e2b(
    package: Path, server: Served, record_property: Callable[[str, object], None]
) -> None:
    shutil.copy(STEPS, package / STEPS.name)
    environment = {**os.environ, **server.variables()}
    done = subprocess.run(
        ["node", STEPS.name],
        cwd=package,
        env=environment,
        capture_output=True,
        text=True,
        timeout=110,
    )
    steps = [json.loads(line) for line in done.stdout.splitlines()]
    for step in steps:
        record_property(PROPERTY, ("E2B JavaScript", step["name"], step["outcome"]))
    assert len(steps) > 100, done.stderr
    failed = [f"{step['name']}:\n{step['why']}" for step in steps if step["outcome"] != "yes"]
    assert not failed, "\n".join(failed)
