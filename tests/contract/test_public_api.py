"""The public interface is what ``public_api.json`` says: nothing changes it unseen."""

from __future__ import annotations

import difflib

from tests.contract import public_api


def test_the_public_interface_is_the_recorded_one() -> None:
    """A deliberate change is recorded by ``python -m tests.contract.public_api``, in its commit."""
    recorded = public_api.FILE.read_text("utf-8")
    differences = difflib.unified_diff(
        recorded.splitlines(), public_api.text().splitlines(), "recorded", "now", lineterm="", n=2
    )
    assert [] == list(differences)


def test_a_change_is_seen() -> None:
    """Negative control: parameters, members, bases, options and entry points are in the record."""
    found = public_api.describe()
    top = found["modules"]["llm_sandbox"]
    assert "memory=None" in top["create_session"]
    assert "workdir=..." in top["BaseSession"]["members"]["update_limits"]
    assert {"run", "close", "sandbox"} <= set(top["ArtifactSandboxSession"]["members"])
    assert "TimeoutError" in top["SandboxTimeoutError"]["bases"]
    assert "= 'docker'" == top["SandboxBackend"]["members"]["DOCKER"]
    assert "--memory" in found["commands"]["llm-sandbox run"]["options"]
    assert "llm-sandbox" in found["entry_points"]["console_scripts"]
