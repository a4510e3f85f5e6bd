"""Languages in `llm-sandbox doctor`, as sessions find them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

import pytest
from rich.console import Console

from llm_sandbox import SandboxSession
from llm_sandbox.cli import doctor, doctor_checks
from llm_sandbox.exceptions import ToolchainNotFoundError
from llm_sandbox.language_handlers import registry
from llm_sandbox.language_handlers.bash import BashHandler
from llm_sandbox.toolchain import Toolchain

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Done  # for the type checker only

pytestmark = pytest.mark.slow


class Rooster(BashHandler):
    """A language that needs a program of its own."""

    toolchain: ClassVar = Toolchain(("crow", "peck"), ("rooster", "rooster-dev"))


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts programs where languages are looked for: their names with what each does."""
    monkeypatch.setattr(doctor_checks, "SEARCH_PATH", str(tmp_path))
    monkeypatch.setitem(registry._registered, "rooster", Rooster)

    def put(**scripts: str) -> None:
        for name, script in scripts.items():
            (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
            (tmp_path / name).chmod(0o755)

    return put


def rooster() -> doctor_checks.LanguageFinding:
    return next(found for found in doctor_checks._check_languages([]) if found.name == "rooster")


def test_versions_are_the_programs_own(programs: Callable[..., None]) -> None:
    programs(crow='echo "crow (Farm 3) 3.14.15 of $1" >&2', peck="echo none; exit 1")
    found = rooster()
    assert found.works
    assert {"crow": "3.14.15", "peck": ""} == found.programs
    assert (None, None) == (found.problem, found.hint)
    assert None is found.image, "this version brings none"


def test_a_missing_program_is_named_with_what_to_install(programs: Callable[..., None]) -> None:
    programs(crow="echo 1.0")
    found = rooster()
    assert not found.works
    assert {"crow": "1.0", "peck": None} == found.programs
    assert "apt-get install rooster rooster-dev" == found.hint

    console = Console(width=160)
    with console.capture() as shown:
        console.print(doctor._language_table([found]))
    for words in ("rooster", "peck is missing", "crow 1.0", "apt-get install rooster rooster-dev"):
        assert words in shown.get()


def test_a_program_that_never_answers_is_not_waited_for(
    programs: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor_checks, "_VERSION_TIMEOUT_S", 0.5)
    programs(crow="exec sleep 300", peck="echo 2.0")
    assert {"crow": "", "peck": "2.0"} == rooster().programs


def test_a_language_that_cannot_be_loaded_is_told_of(
    programs: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(Rooster):
        def __init__(self) -> None:
            raise RuntimeError("\x1b[31mno eggs")

    monkeypatch.setitem(registry._registered, "rooster", Broken)
    found = rooster()
    assert not found.works
    assert "RuntimeError: \x1b[31mno eggs" == found.problem
    console = Console(width=160)
    with console.capture() as shown:
        console.print(doctor._language_table([found]))
    assert "no eggs" in shown.get()
    assert "\x1b" not in shown.get()


@pytest.mark.usefixtures("isolation")
def test_doctor_says_what_sessions_meet(cli: Callable[..., Done]) -> None:
    report = json.loads(cli("doctor", "--json").out)
    found = {entry["name"]: entry for entry in report["languages"]}
    assert set(registry.available()) == found.keys()
    assert found["python"]["works"]
    assert found["bash"]["works"]
    assert found["bash"]["programs"]["bash"]
    for name, entry in found.items():
        if entry["works"]:
            assert None not in entry["programs"].values()
            continue
        with (
            pytest.raises(ToolchainNotFoundError) as caught,
            SandboxSession(lang=name, backend="bubblewrap"),
        ):
            pass
        assert entry["hint"] in str(caught.value.hint)
    assert found["typescript"]["image"] == found["javascript"]["image"]
    assert "Languages" in cli("doctor", "-v").out


@pytest.mark.engine
def test_engines_with_a_languages_image_are_named(cli: Callable[..., Done]) -> None:
    report = json.loads(cli("doctor", "--json").out)
    found = {entry["name"]: entry for entry in report["languages"]}
    docker = next(entry for entry in report["backends"] if entry["name"] == "docker")
    assert docker["has_image"] == ("docker" in found["python"]["engines"])
