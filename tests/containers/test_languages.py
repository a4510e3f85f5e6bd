"""Languages in containers: their images have no Python, and what runs them is brought."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import SandboxSession
from llm_sandbox.backends.containers.backend import ContainerBackend
from llm_sandbox.backends.recipes import image_name
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import ToolchainNotFoundError
from llm_sandbox.testing.suite import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

pytestmark = pytest.mark.timeout(240)

ENGINES = [
    pytest.param(name, marks=pytest.mark.engine(name, image="bash"))
    for name in ("docker", "podman")
]


def check(session: SandboxSession) -> None:
    """What takes an interpreter that stays, its input, and a new one after its end."""
    assert not session.run("command -v python3").stdout, "the image has a Python"
    session.run("colour=blue")
    assert "blue\n" == session.run('echo "$colour"').stdout
    code = 'read -r a; read -r b; echo "$b $a"; read -r c || echo end'
    assert "second first\nend\n" == session.run(code, stdin="first\nsecond\n").stdout
    result = session.run("kill -9 $$")
    assert (137, "reset") == (result.exit_code, result.state)
    assert "again\n" == session.run("echo again").stdout


@pytest.mark.parametrize("engine", ENGINES)
def test_an_image_without_python(engine: str) -> None:
    with SandboxSession(lang="bash", backend=engine) as session:
        check(session)


@pytest.fixture
def container() -> Iterator[Any]:
    backend = get_backend("docker")
    assert isinstance(backend, ContainerBackend)
    made: Any = backend.engine.client.containers.run(
        image_name("bash"),
        ["sleep", "600"],
        name=f"llm-sandbox-test-{uuid.uuid4().hex[:12]}",
        network_mode="none",
        detach=True,
    )
    yield made
    made.remove(force=True)


@pytest.mark.engine("docker", image="bash")
def test_somebody_elses_container(container: Any) -> None:
    """It is worked in, and left as it was."""
    with SandboxSession(lang="bash", backend="docker", container_id=container.id) as session:
        check(session)
    assert eventually(lambda: not container.exec_run(["ls", "-A", "/opt"]).output)


@pytest.mark.engine("docker", image="bash")
def test_an_image_without_the_language() -> None:
    """The error names the programs, and an image that has them."""
    image = image_name("bash")
    with (
        pytest.raises(ToolchainNotFoundError, match="ruby") as caught,
        SandboxSession(lang="ruby", backend="docker", image=image),
    ):
        pass
    assert "llm-sandbox images build ruby" in str(caught.value.hint)
