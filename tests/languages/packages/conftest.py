"""A cache of its own for layers, a home directory without settings, and what installs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from llm_sandbox.backends.bubblewrap.backend import BubblewrapBackend
from llm_sandbox.backends.local.backend import LocalBackend
from llm_sandbox.backends.registry import get_backend
from llm_sandbox.exceptions import BackendUnavailableError
from llm_sandbox.settings import get_settings
from tests.languages.packages.installing import Installer, MakeInstaller
from tests.languages.packages.sources import Repository, make_module

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from llm_sandbox.backends.base import Backend
    from llm_sandbox.language_handlers.packages import Packages


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "cache"
    monkeypatch.setenv("LLM_SANDBOX_CACHE_DIR", str(folder))
    get_settings.cache_clear()
    # What sessions share sees the folder of layers that there was when it was started.
    shared = get_backend("bubblewrap")
    assert isinstance(shared, BubblewrapBackend)
    shared.close()
    yield folder
    shared.close()
    get_settings.cache_clear()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture(params=["bubblewrap", "local"])
def backend(cache: Path, request: pytest.FixtureRequest) -> Iterator[Backend]:
    made = BubblewrapBackend() if request.param == "bubblewrap" else LocalBackend()
    try:
        made.check()
    except BackendUnavailableError as error:
        pytest.skip(f"{request.param} does not work here: {error}")
    yield made
    made.close()


@pytest.fixture
def installer(backend: Backend, cache: Path) -> MakeInstaller:
    def make(packages: Packages) -> Installer:
        return Installer(backend, cache, packages)

    return make


@pytest.fixture
def source(tmp_path: Path, home: Path) -> Path:
    """A source of gems, which the user's settings name."""
    folder = tmp_path / "source"
    folder.mkdir()
    (home / ".gemrc").write_text(f"---\n:sources:\n- file://{folder}/\ngem: --user-install\n")
    return folder


@pytest.fixture
def proxy(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A proxy, which the user's settings name."""
    folder = tmp_path / "proxy"
    for version in ("v1.0.0", "v1.2.0"):
        code = f'package below\n\nfunc Say() string {{ return "below {version}" }}\n'
        files = {"go.mod": "module example.org/below\n\ngo 1.16\n", "below.go": code}
        make_module(folder, "example.org/below", version, files)
    files = {
        "go.mod": "module example.org/above\n\ngo 1.16\n\nrequire example.org/below v1.0.0\n",
        "above.go": 'package above\n\nimport "example.org/below"\n\n'
        'func Say() string { return "above " + below.Say() }\n',
        "deep/deep.go": "package deep\n\nconst Depth = 7\n",
    }
    make_module(folder, "example.org/above", "v1.0.0", files)
    settings = home / ".config" / "go"
    settings.mkdir(parents=True)
    (settings / "env").write_text(f"GOPROXY=file://{folder}\nGOSUMDB=off\nGOFLAGS=-tags=nothing\n")
    for name in ("GOPROXY", "GOSUMDB", "GOENV", "GOFLAGS"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def repository(tmp_path: Path, home: Path) -> Repository:
    """A repository, which the user's settings name."""
    folder = tmp_path / "repository"
    folder.mkdir()
    (home / ".m2").mkdir()
    (home / ".m2" / "settings.xml").write_text(
        '<settings xmlns="http://maven.apache.org/SETTINGS/1.0.0"><mirrors><mirror><id>here</id>'
        f"<mirrorOf>*</mirrorOf><url>file://{folder}</url></mirror></mirrors></settings>"
    )
    return Repository(folder)
