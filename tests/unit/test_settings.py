"""Settings from the environment."""

import os
from pathlib import Path

import pytest

from llm_sandbox.cli.doctor_checks import check_settings
from llm_sandbox.const import SandboxBackend
from llm_sandbox.exceptions import ValidationError
from llm_sandbox.settings import Settings, get_settings


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch):
    for name in ("BACKEND", "CACHE_DIR", "BWRAP", "CONFIG", "PREFORK", "PRELOAD"):
        monkeypatch.delenv(f"LLM_SANDBOX_{name}", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
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


# --- the file


@pytest.fixture
def config(tmp_path, monkeypatch):
    """Writes the file of settings where it is looked for."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    place = tmp_path / "llm-sandbox" / "config.toml"
    place.parent.mkdir()

    def write(text):
        place.write_text(text)
        return place

    return write


def test_a_variable_goes_before_the_file_and_the_file_before_the_default(config, monkeypatch):
    place = config('backend = "podman"\nprefork = 3\ncache_dir = "/var/cache/mine"\n')
    monkeypatch.setenv("LLM_SANDBOX_PREFORK", "1")
    settings = get_settings()
    assert settings.backend is SandboxBackend.PODMAN
    assert settings.cache_dir == Path("/var/cache/mine")
    assert (settings.prefork, settings.preload) == (1, "science")
    assert settings.origins["backend"] == str(place)
    assert settings.origins["prefork"] == "LLM_SANDBOX_PREFORK"
    assert settings.origins["preload"] == "default"


def test_another_file_can_be_named(config, tmp_path, monkeypatch):
    config("prefork = 3\n")
    other = tmp_path / "other.toml"
    other.write_text("prefork = 5\n")
    monkeypatch.setenv("LLM_SANDBOX_CONFIG", str(other))
    assert get_settings().prefork == 5


@pytest.mark.parametrize("named", ["other.toml", "/nowhere/other.toml"])
def test_a_named_file_is_absolute_and_there(monkeypatch, tmp_path, named):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.toml").write_text("prefork = 5\n")
    monkeypatch.setenv("LLM_SANDBOX_CONFIG", named)
    with pytest.raises(ValidationError, match="LLM_SANDBOX_CONFIG"):
        get_settings()


def test_nothing_is_read_from_the_working_directory(monkeypatch, tmp_path):
    for name in ("config.toml", "llm-sandbox.toml", "llm_sandbox.toml", ".env"):
        (tmp_path / name).write_text("prefork = 5\nLLM_SANDBOX_PREFORK=5\n")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    assert get_settings().prefork == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("prefork = 17", "prefork: expected a number from 0 to 16"),
        ("prefork = true", "prefork: expected a number"),
        ('prefork = "sk-secret"', "prefork: expected a number"),
        ("backend = 5", "backend: expected one of"),
        ('bwrap = "relative/bwrap"', "bwrap: expected an absolute path"),
        ("cache_dir = []", "cache_dir: expected a path"),
        ('cache_dir = "~nobody-of-that-name/x"', "cache_dir: there is no such home"),
        ('backnd = "docker"', "no setting 'backnd'"),
        ("[backend]\nname = 1", "backend: expected one of"),
        ("not toml", "no TOML"),
    ],
)
def test_a_bad_file_is_named_and_its_values_are_not(config, text, words):
    place = config(text)
    with pytest.raises(ValidationError, match=words) as caught:
        get_settings()
    assert str(place) in str(caught.value)
    assert "sk-secret" not in str(caught.value)


def test_a_misspelt_setting_is_told_what_it_resembles(config):
    config('backnd = "docker"')
    with pytest.raises(ValidationError) as caught:
        get_settings()
    assert caught.value.hint == "did you mean backend?"


def test_doctor_shows_values_their_origin_and_what_sets_nothing(config, monkeypatch):
    config('prefork = 3\nmissing_images = "refuse"\n')
    monkeypatch.setenv("LLM_SANDBOX_PREFORK", "4")
    monkeypatch.setenv("LLM_SANDBOX_PRELAOD", "lean")
    found = check_settings()
    assert found.file_is_there
    assert (found.values["prefork"], found.origins["prefork"]) == (4, "LLM_SANDBOX_PREFORK")
    assert (found.values["missing_images"], found.origins["missing_images"]) == (
        "refuse",
        found.file,
    )
    assert found.unknown == ["LLM_SANDBOX_PRELAOD"]
    monkeypatch.setenv("LLM_SANDBOX_PREFORK", "many")
    get_settings.cache_clear()
    assert "LLM_SANDBOX_PREFORK" in (check_settings().problem or "")
