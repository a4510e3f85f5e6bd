"""`llm-sandbox doctor`: what it finds is what happens."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import SandboxBackend, create_session

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.conftest import Done  # for the type checker only


@pytest.mark.usefixtures("isolation")
def test_tables(cli: Callable[..., Done]) -> None:
    """Every backend is named, and what to do for those that do not work."""
    done = cli("doctor")
    assert 0 == done.code
    for name in SandboxBackend:
        assert name in done.out
    assert "not in this version" in done.out
    assert "without --backend: bubblewrap" in done.out
    assert "ipykernel" in done.out
    assert "\x1b" not in done.out


@pytest.mark.usefixtures("isolation")
def test_json(cli: Callable[..., Done]) -> None:
    """The report is that of a session."""
    done = cli("doctor", "--json")
    report = json.loads(done.out)
    assert (0, True) == (done.code, report["healthy"])
    found = {backend["name"]: backend for backend in report["backends"]}
    with create_session("bubblewrap") as session:
        isolation = session.isolation.to_dict()
    assert isolation["level"] == found["bubblewrap"]["level"]
    assert isolation["controls"].keys() == found["bubblewrap"]["controls"].keys()
    assert not found["docker"]["works"]
    assert found["docker"]["hint"]
    assert "none" == found["local"]["level"]
    assert report["bwrap"]["path"].endswith("bwrap")


def test_unhealthy(cli: Callable[..., Done]) -> None:
    """Without anything that isolates it exits 1 and says what to do."""
    done = cli("doctor", "--json", LLM_SANDBOX_BWRAP="/bin/false")
    report = json.loads(done.out)
    assert (1, False) == (done.code, report["healthy"])
    assert report["default_backend"] is None
    found = {backend["name"]: backend for backend in report["backends"]}
    assert not found["bubblewrap"]["works"]
    assert found["bubblewrap"]["hint"]
    assert "bubblewrap" in cli("doctor", LLM_SANDBOX_BWRAP="/bin/false").out
