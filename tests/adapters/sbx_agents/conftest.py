"""Places of the test's own: a state, a store of keys, a workspace, and a program ``sbx``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

IMAGE = "llm-sandbox/python:0.1.0"
FAKE = Path(__file__).with_name("fake_sbx.py")
VERSIONS = ("early", "middle", "late")


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own, so that no key and no sandbox of this user's counts."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    for name in ("CODEX_HOME", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path / "workspace"
    place.mkdir()
    (place / "a.txt").write_text("one\n")
    return place


class FakeSbx:
    """The stand-in for Docker's program, as a test sees it."""

    def __init__(self, state: Path) -> None:
        self.state = state

    def calls(self, *verb: str) -> list[list[str]]:
        """What it was called with, besides for help."""
        file = self.state / "calls.jsonl"
        lines = file.read_text().splitlines() if file.exists() else []
        found = [json.loads(line) for line in lines]
        return [
            words
            for words in found
            if words[-1:] != ["--help"] and words[: len(verb)] == list(verb)
        ]

    def knows(self) -> dict[str, Any]:
        """Its sandboxes, keys and rules."""
        file = self.state / "state.json"
        empty: dict[str, Any] = {"sandboxes": {}, "secrets": {}, "rules": {}}
        return json.loads(file.read_text()) if file.exists() else empty

    def home(self, name: str) -> Path:
        return self.state / "homes" / name


@pytest.fixture
def version() -> str:
    return "middle"


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stand-in by version, in the same place for all tests: what it says of itself is looked at
    once for each program.
    """
    places = tmp_path_factory.mktemp("sbx")
    # Nothing but the standard library, and so without what an environment would load first.
    text = FAKE.read_text().replace("/usr/bin/env python3", f"{sys.executable} -IS", 1)
    for version in VERSIONS:
        folder = places / version
        folder.mkdir()
        (folder / "sbx").write_text(text)
        (folder / "sbx").chmod(0o755)
        codex = folder / "codex"
        codex.write_text('#!/bin/sh\necho "{\\"type\\": \\"thread.started\\"}"\necho "args: $*"\n')
        codex.chmod(0o755)
    return places


@pytest.fixture
def fake_sbx(
    programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> FakeSbx:
    """Docker's program, as it documents itself in a version; it is not the real one."""
    state = tmp_path / "sbx-state"
    state.mkdir()
    monkeypatch.setenv("PATH", f"{programs / version}:/usr/local/bin:/usr/bin:/bin")
    monkeypatch.setenv("FAKE_SBX_STATE", str(state))
    monkeypatch.setenv("FAKE_SBX_VERSION", version)
    return FakeSbx(state)


def git(folder: Path, *words: str) -> str:
    """Have Git do something as a person would, and return what it says."""
    settings = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "safe.directory=*")
    done = subprocess.run(
        ["git", *settings, "-C", str(folder), *words],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout
