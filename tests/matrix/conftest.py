"""The sandboxes of the matrix are in a registry of its own, and end with the module."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

import pytest

from llm_sandbox import Sandbox
from tests.matrix.reference import DATA, REFERENCES, Cell

if TYPE_CHECKING:
    from collections.abc import Iterator

# They are no modules of tests, and say what differs all the same.
pytest.register_assert_rewrite(
    *(f"tests.matrix.{key}_probes" for key in REFERENCES),
    *(
        f"tests.matrix.{name}"
        for name in ("modal_creation", "sbx_agents_builtin", "zenml_sessions")
    ),
    "tests.matrix.probes",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    warning = "llm_sandbox.backends.local.backend.LocalSandboxWarning"
    for item in items:
        cell = getattr(getattr(item, "callspec", None), "params", {}).get("cell")
        if isinstance(cell, Cell) and cell.backend in ("local", DATA):
            item.add_marker(pytest.mark.filterwarnings(f"ignore::{warning}"))


@pytest.fixture(scope="module")
def _registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Where sandboxes, secrets, volumes and snapshots are kept, apart from those of this user."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
            patch.setenv(name, os.fspath(tmp_path_factory.mktemp(name.lower())))
        yield
        for sandbox in Sandbox.list():
            with contextlib.suppress(Exception):
                sandbox.destroy()
        Sandbox.gc()
        assert [] == Sandbox.list()
