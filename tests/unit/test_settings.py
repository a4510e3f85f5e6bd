"""Settings from the environment."""

import os
from pathlib import Path

import pytest

from llm_sandbox.const import SandboxBackend
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.settings import Settings, get_settings


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch):
    for name in ("BACKEND", "CACHE_DIR", "BWRAP", "PREFORK", "PRELOAD"):
        monkeypatch.delenv(f"LLM_SANDBOX_{name}", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()


def test_defaults(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    settings = get_settings()
    assert (settings.backend, settings.bwrap) == (None, None)
    assert (settings.prefork, settings.preload) == (2, "science")
    assert settings.cache_dir == tmp_path / ".cache" / "llm-sandbox"


def test_the_cache_follows_xdg_unless_it_is_relative(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert Settings.from_environment(os.environ).cache_dir == tmp_path / "llm-sandbox"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert Settings.from_environment(os.environ).cache_dir == Path.home() / ".cache" / "llm-sandbox"


def test_the_environment_is_read_once_and_in_any_case(monkeypatch):
    monkeypatch.setenv("LLM_SANDBOX_BACKEND", "Podman")
    monkeypatch.setenv("LLM_SANDBOX_BWRAP", "/opt/bwrap")
    monkeypatch.setenv("LLM_SANDBOX_PREFORK", "0")
    assert get_settings().backend is SandboxBackend.PODMAN
    assert get_settings().bwrap == Path("/opt/bwrap")
    monkeypatch.setenv("LLM_SANDBOX_BACKEND", "docker")
    assert get_settings().backend is SandboxBackend.PODMAN


def test_an_empty_variable_counts_as_absent(monkeypatch):
    monkeypatch.setenv("LLM_SANDBOX_BACKEND", "")
    assert get_settings().backend is None


@pytest.mark.parametrize(
    ("name", "value"),
    [("BACKEND", "sk-secret"), ("PREFORK", "17"), ("PREFORK", "-1"), ("PRELOAD", "sk-secret")],
)
def test_a_bad_value_names_the_variable_and_not_the_value(monkeypatch, name, value):
    monkeypatch.setenv(f"LLM_SANDBOX_{name}", value)
    with pytest.raises(ValidationError, match=f"LLM_SANDBOX_{name}") as caught:
        get_settings()
    assert value not in str(caught.value).replace("16", "")


def test_settings_do_not_change():
    with pytest.raises(AttributeError):
        get_settings().prefork = 3
