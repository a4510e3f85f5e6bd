"""Which backend is chosen when none is named."""

import pytest

from llm_sandbox.backends import selection
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import IsolationUnavailableError, ValidationError
from llm_sandbox.settings import get_settings


@pytest.fixture(autouse=True)
def _fresh_settings():
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()


def test_the_environment_decides(monkeypatch):
    monkeypatch.setenv("LLM_SANDBOX_BACKEND", "local")
    backend, reason = selection.choose()

    assert backend is get_backend("local")
    assert "LLM_SANDBOX_BACKEND" in reason


def test_a_backend_that_does_not_exist_is_refused(monkeypatch):
    monkeypatch.setenv("LLM_SANDBOX_BACKEND", "cardboard")
    with pytest.raises(ValidationError, match="LLM_SANDBOX_BACKEND"):
        selection.choose()


def test_local_is_never_chosen(monkeypatch):
    monkeypatch.delenv("LLM_SANDBOX_BACKEND", raising=False)

    def refuse():
        raise IsolationUnavailableError("not here", backend="bubblewrap", hint="do something")

    monkeypatch.setattr(get_backend("bubblewrap"), "check", refuse)
    with pytest.raises(IsolationUnavailableError, match="not here"):
        selection.choose()
    assert "local" not in selection.AUTOMATIC
