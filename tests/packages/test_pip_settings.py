"""The host's configuration of pip, carried to another root."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llm_sandbox.packages.pip_settings import PipSettings

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_files_and_variables_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configuration = tmp_path / "pip.conf"
    configuration.write_text(
        "[global]\nindex-url = https://u:p@index/simple\nfind-links =\n  /one\n  /two\n"
        "target = /evil\ntimeout = 7\n[install]\ntimeout = 8\n[download]\nproxy = http://no\n"
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(configuration))
    for name in ("PIP_FIND_LINKS", "PIP_INDEX_URL", "PIP_TIMEOUT", "PIP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_TRUSTED_HOST", "index")
    monkeypatch.setenv("PIP_QUIET", "3")
    options = PipSettings.read(30).options
    assert options["index-url"] == "https://u:p@index/simple"
    assert options["find-links"].split() == ["/one", "/two"]
    assert options["timeout"] == "8"
    assert options["trusted-host"] == "index"
    assert not {"target", "proxy", "quiet"} & options.keys()


def test_local_places_move_below_the_root(tmp_path: Path) -> None:
    wheels, simple = tmp_path / "my wheels", tmp_path / "pypi" / "simple"
    wheels.mkdir()
    simple.mkdir(parents=True)
    (tmp_path / "ca.pem").touch()
    options = {
        "find-links": f"{wheels.as_uri()} https://there/x /does/not/exist",
        "extra-index-url": f"file://{simple} https://pypi.org/simple",
        "cert": str(tmp_path / "ca.pem"),
        "no-index": "1",
    }
    environment = {
        "https_proxy": "http://proxy:3128",
        "SSL_CERT_FILE": str(tmp_path / "ca.pem"),
        "SECRET": "x",
    }
    carried = PipSettings(options, environment).carried("/pip")
    assert carried.variables == {
        "PIP_FIND_LINKS": f"file:///pip{tmp_path}/my%20wheels https://there/x /pip/does/not/exist",
        "PIP_EXTRA_INDEX_URL": f"file:///pip{simple} https://pypi.org/simple",
        "PIP_CERT": f"/pip{tmp_path}/ca.pem",
        "PIP_NO_INDEX": "1",
        "https_proxy": "http://proxy:3128",
        "SSL_CERT_FILE": f"/pip{tmp_path}/ca.pem",
    }
    assert carried.binds == {
        f"/pip{path}": str(path) for path in (wheels, simple.parent, tmp_path / "ca.pem")
    }


def test_on_the_host_places_stay(tmp_path: Path) -> None:
    settings = PipSettings({"find-links": str(tmp_path), "index-url": tmp_path.as_uri()}, {})
    assert settings.carried("").variables == {
        "PIP_FIND_LINKS": str(tmp_path),
        "PIP_INDEX_URL": tmp_path.as_uri(),
    }
