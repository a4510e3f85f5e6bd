"""Modal's programs, with sandboxes, volumes and apps that are the test module's own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import Sandbox as Machine
from llm_sandbox.adapters import modal

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Everything that is registered or kept is this module's, and gone in the end."""
    places = {
        "XDG_STATE_HOME": str(tmp_path_factory.mktemp("state")),
        "XDG_DATA_HOME": str(tmp_path_factory.mktemp("data")),
        "LLM_SANDBOX_BACKEND": "bubblewrap",
    }
    before = {name: os.environ.get(name) for name in places}
    os.environ.update(places)
    try:
        yield
        for machine in Machine.list():
            machine.destroy()
        Machine.gc()
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@pytest.fixture(autouse=True)
def configured() -> Iterator[None]:
    """What a test configures holds for that test."""
    before = modal.configure()
    yield
    modal.configure(**vars(before))


@pytest.fixture
def app() -> modal.App:
    return modal.App.lookup("of-tests", create_if_missing=True)
