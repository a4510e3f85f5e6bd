"""Commands that install what is missing: true in this environment, and typed as they stand."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import pytest

from llm_sandbox.host.distribution import DISTRIBUTION, install_command

ROOT = Path(__file__).resolve().parents[2]
METADATA = f"""\
Metadata-Version: 2.4
Name: {DISTRIBUTION}
Version: 9.9
Requires-Dist: anyio>=4.6
Requires-Dist: docker>=7.1; extra == 'docker'
Requires-Dist: docker>=7.1; extra == 'podman'
Requires-Dist: podman>=5.2; extra == "podman"
Requires-Dist: bells<2,>=1; sys_platform == 'linux' and extra == 'docker-more'
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Metadata of our own, found before any that is here."""
    about = tmp_path / f"{DISTRIBUTION.replace('-', '_')}-9.9.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(METADATA)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an environment that is not activated."""
    folder = tmp_path / "an environment" / "bin"
    folder.mkdir(parents=True)
    for name in ("python", "pip"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return folder


@pytest.mark.usefixtures("installed")
def test_packages_of_the_extra_are_named(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are on every index, whatever this library was installed from."""
    monkeypatch.setenv("PATH", f"{program}{os.pathsep}/usr/bin")
    assert "pip install 'docker>=7.1'" == install_command("docker")
    assert "pip install 'docker>=7.1' 'podman>=5.2'" == install_command("podman")
    assert "pip install --upgrade 'bells<2,>=1'" == install_command("docker-more", upgrade=True)


@pytest.mark.usefixtures("installed")
def test_another_environments_pip_is_not_named(program: Path) -> None:
    words = shlex.split(install_command("docker"))
    assert [str(program / "python"), "-m", "pip", "install", "docker>=7.1"] == words


@pytest.mark.usefixtures("installed", "program")
def test_a_tree_that_is_newer_than_what_was_installed_is_named() -> None:
    """An extra that the metadata lacks is one of the tree that the code runs from."""
    assert f"{ROOT}[later]" == shlex.split(install_command("later"))[-1]
