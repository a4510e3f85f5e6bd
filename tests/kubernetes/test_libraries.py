"""Libraries for sessions in pods: fetched outside, copied into the pod, used without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from llm_sandbox import create_session
from llm_sandbox.settings import get_settings
from tests.containers.wheels import make_wheel, only_from

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from llm_sandbox.backends.kubernetes.backend import KubernetesBackend

pytestmark = [pytest.mark.slow, pytest.mark.cluster]


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Provide the only folder that libraries come from, and a store that starts empty."""
    monkeypatch.setenv("LLM_SANDBOX_CACHE_DIR", str(tmp_path / "cache"))
    get_settings.cache_clear()
    only_from(tmp_path / "wheels", monkeypatch)
    yield tmp_path / "wheels"
    get_settings.cache_clear()


def test_libraries_are_copied_into_the_pod(backend: KubernetesBackend, wheels: Path) -> None:
    """A library at open and one later are imported, with what they require, in a closed network."""
    make_wheel(wheels, "first", {"first.py": "from below import VALUE\n"}, requires=("below",))
    make_wheel(wheels, "below", {"below.py": "VALUE = 7\n"})
    make_wheel(wheels, "later", {"later.py": f"TEXT = {'x' * 100_000!r}\n"})
    with create_session(backend, libraries=["first"]) as session:
        assert "7\n" == session.run("import first; print(first.VALUE)").stdout
        session.install(["later"])
        assert "100000\n" == session.run("import later; print(len(later.TEXT))").stdout
