"""The check of sandbox providers that inspect ships, over our backends; how inspect finds ours."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import anyio
import pytest
from inspect_ai.util._sandbox import self_check

from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import SandboxError
from llm_sandbox.host.distribution import install_command
from llm_sandbox.integrations.inspect import InspectSandbox, SandboxConfig

pytestmark = pytest.mark.slow

# What cannot be as inspect would have it, by backend, with the reason. One that passes nevertheless
# fails the test, as does one that is not here.
ONE_USER = "a sandbox has one user: neither root nor another can be added or used"
NO_BOUNDARY = "root's local programs are root, whom the bits of a file do not hold back"
KNOWN = {
    "bubblewrap": {"test_exec_as_user": ONE_USER},
    "docker": {"test_exec_as_user": ONE_USER},
    "gvisor": {"test_exec_as_user": ONE_USER},
    "podman": {"test_exec_as_user": ONE_USER},
    "local": {
        "test_exec_as_user": ONE_USER,
        **(
            dict.fromkeys(
                [
                    "test_read_file_not_allowed",
                    "test_write_binary_file_without_permissions",
                    "test_write_text_file_without_permissions",
                ],
                NO_BOUNDARY,
            )
            if os.geteuid() == 0
            else {}
        ),
    },
}
# These wait for seconds, so each has a sandbox of its own beside the others.
SLEEPERS = {
    "test_exec_timeout",
    "test_exec_timeout_kills_child_processes",
    "test_exec_timeout_kills_process",
}


async def check(backend: str) -> dict[str, str]:
    """What inspect's check says of a backend: the failures, by the name of what was checked."""
    config = SandboxConfig(backend=backend)
    failures: dict[str, str] = {}

    async def run(names: list[str]) -> None:
        made = await InspectSandbox.sample_init("check", config, {})
        try:
            for name in names:
                try:
                    await getattr(self_check, name)(made["default"])
                except Exception as error:  # noqa: BLE001 - whatever it is, it is what we look for
                    failures[name] = f"{type(error).__name__}: {error}"[:500]
        finally:
            await InspectSandbox.sample_cleanup("check", config, made, interrupted=False)

    names = set(self_check.__all__)
    assert SLEEPERS < names
    async with anyio.create_task_group() as tasks:
        for name in SLEEPERS:
            tasks.start_soon(run, [name])
        tasks.start_soon(run, sorted(names - SLEEPERS))
    return failures


@pytest.mark.filterwarnings("ignore::llm_sandbox.backends.local.backend.LocalSandboxWarning")
@pytest.mark.parametrize(
    "backend",
    [
        "bubblewrap",
        "gvisor",
        "local",
        pytest.param("docker", marks=pytest.mark.engine("docker", image="python")),
        pytest.param("podman", marks=pytest.mark.engine("podman", image="python")),
    ],
)
def test_inspects_own_check(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of more than forty behaviours all hold, except for those whose reason is known."""
    assert len(self_check.__all__) >= 44
    try:
        get_backend(backend).check()
    except SandboxError as error:
        pytest.skip(f"{backend}: {error.message}")
    # It gives what was killed five seconds to go; ours have to be gone within one.
    hurried = SimpleNamespace(sleep=lambda seconds: anyio.sleep(min(seconds, 1)))
    monkeypatch.setattr(self_check, "anyio", hurried)
    failures = anyio.run(check, backend)
    assert failures.keys() == KNOWN[backend].keys(), failures


# --- being found


@pytest.fixture
def alone(tmp_path: Path) -> dict[str, str]:
    """The environment of a process that reaches no container engine and keeps what it writes."""
    return {
        **{name: value for name, value in os.environ.items() if name != "CONTAINER_HOST"},
        "PATH": str(tmp_path),
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "DOCKER_HOST": f"unix://{tmp_path}/none.sock",
    }


def test_inspect_finds_the_provider(alone: dict[str, str], tmp_path: Path) -> None:
    """Its command line knows the name, by the entry point alone, and cleans up."""
    done = subprocess.run(
        [sys.executable, "-m", "inspect_ai", "sandbox", "cleanup", "llm_sandbox"],
        cwd=tmp_path,
        env=alone,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    assert "0 removed, 0 kept" in done.stdout
    assert "docker was left out" in done.stderr


def test_without_inspect_the_extra_is_named(tmp_path: Path) -> None:
    """Who imports the provider without the package is told what to type."""
    code = (
        "import sys; sys.modules['inspect_ai'] = None\n"
        "from llm_sandbox.exceptions import MissingDependencyError\n"
        "try: import llm_sandbox.integrations.inspect.entry\n"
        "except MissingDependencyError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == f"inspect_ai is not installed\n{install_command('inspect')}\n"
