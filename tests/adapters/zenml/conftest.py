"""Components of each flavor, in a registry of the test's own."""

from __future__ import annotations

import datetime
import os
import time
import uuid
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from llm_sandbox import Sandbox
from llm_sandbox.adapters.zenml import (
    BaseSandbox,
    BubblewrapSandboxFlavor,
    DockerSandboxFlavor,
    LocalSandboxFlavor,
    PodmanSandboxFlavor,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from llm_sandbox.adapters.zenml import BaseSandboxFlavor, SandboxSession

ROOT = Path(__file__).resolve().parents[3]
FLAVORS: dict[str, type[BaseSandboxFlavor]] = {
    "local": LocalSandboxFlavor,
    "bubblewrap": BubblewrapSandboxFlavor,
    "docker": DockerSandboxFlavor,
    "podman": PodmanSandboxFlavor,
}
ISOLATED = [
    "bubblewrap",
    pytest.param("docker", marks=pytest.mark.engine("docker", "python")),
    pytest.param("podman", marks=pytest.mark.engine("podman", "python")),
]
ALL = ["local", *ISOLATED]


def component(backend: str = "local", **configuration: Any) -> BaseSandbox:
    """A component of a flavor; isolated ones have no network unless told."""
    flavor = FLAVORS[backend]()
    if backend != "local":
        configuration.setdefault("network", "blocked")
    now = datetime.datetime.now(datetime.UTC)
    return flavor.implementation_class(
        name=f"the {backend} one",
        id=uuid.uuid4(),
        config=flavor.config_class(**configuration),
        flavor=flavor.name,
        type=flavor.type,
        user=None,
        created=now,
        updated=now,
    )


def run(session: SandboxSession, text: str, **options: Any) -> str:
    """What a command line writes in a session."""
    return session.exec(["sh", "-c", text], **options).collect().stdout


def until(look: Callable[[], bool], seconds: float = 30.0) -> bool:
    """Look again and again until it is so; whether it is."""
    end = time.monotonic() + seconds
    while not (seen := look()) and time.monotonic() < end:
        time.sleep(0.05)
    return seen


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """That local sandboxes do not isolate is known here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*does not isolate")
        yield


@pytest.fixture(scope="module", autouse=True)
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A registry and a store of the module's own, in which nothing lives in the end."""
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))
    try:
        yield
        left = Sandbox.list()
        for sandbox in left:
            sandbox.destroy()
        Sandbox.gc()
        assert [] == left
    finally:
        if before is None:
            del os.environ["XDG_STATE_HOME"]
        else:
            os.environ["XDG_STATE_HOME"] = before
