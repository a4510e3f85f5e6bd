"""Runs programs of the corpus in a sandbox, and returns which audit event each of them raised."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from llm_sandbox.sandbox import Sandbox

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.scanner.corpus.snippets import Snippet

__all__ = ["Verdict", "validate"]

RUNNER = Path(__file__).with_name("audit_runner.py")


@dataclass(frozen=True)
class Verdict:
    """What a program did."""

    event: str
    """The event that was waited for; empty when none came."""
    text: str
    """The event's arguments, or else the error by which the program ended."""


def validate(snippets: Sequence[Snippet], python: str = "python3") -> list[Verdict]:
    """Run programs and return their verdicts, in their order.

    For a program without events to wait for, any event that a harmless one does not raise counts.

    Raises:
        BackendUnavailableError: bubblewrap does not work here.
    """
    asked = [
        {"code": s.code, "events": s.events, "needle": s.needle, "notebook": s.notebook}
        for s in snippets
    ]
    with Sandbox.create(backend="bubblewrap", timeout=300) as sandbox:
        sandbox.files.write_bytes("audit_runner.py", RUNNER.read_bytes())
        sandbox.files.write_bytes("snippets.json", json.dumps(asked).encode())
        sandbox.check(python, "audit_runner.py")
        answer = json.loads(sandbox.files.read_bytes("verdicts.json"))
    return [Verdict(*verdict) for verdict in answer["verdicts"]]
