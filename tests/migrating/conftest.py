"""Backends of the programs: each on bubblewrap and in a container, without a change."""

from collections.abc import Iterator

import pytest

from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import BackendUnavailableError
from llm_sandbox.session.prefork import shared_pool
from llm_sandbox.settings import get_settings


@pytest.fixture(autouse=True)
def _nothing_ahead(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No sandboxes besides those that a program asks for."""
    monkeypatch.setenv("LLM_SANDBOX_PREFORK", "0")
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()
    shared_pool().clear()


@pytest.fixture(
    params=[
        "bubblewrap",
        pytest.param("docker", marks=pytest.mark.engine("docker", image="python")),
    ]
)
def place(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, _nothing_ahead: None
) -> str:
    """The backend of programs that name none."""
    name = str(request.param)
    try:
        get_backend(name).check()
    except BackendUnavailableError as error:
        pytest.skip(f"{name}: {error.message}")
    monkeypatch.setenv("LLM_SANDBOX_BACKEND", name)
    get_settings.cache_clear()
    return name
