"""Warnings of backends, as these tests treat them."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if getattr(getattr(item, "cls", None), "backend_name", None) == "local":
            name = "llm_sandbox.backends.local.backend.LocalSandboxWarning"
            item.add_marker(pytest.mark.filterwarnings(f"ignore::{name}"))
