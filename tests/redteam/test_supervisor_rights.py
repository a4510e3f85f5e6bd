"""The supervisor's right to pass over permissions is for overlays alone."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from llm_sandbox import Sandbox
from llm_sandbox.exceptions import UnsupportedError
from llm_sandbox.testing.suite import usable_backend

pytestmark = pytest.mark.redteam

_DAC_OVERRIDE = 1 << 1


def facts_of(process: int) -> dict[str, str]:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def supervisors() -> list[dict[str, str]]:
    """Those that this process has started, by whatever is between."""
    known: dict[int, dict[str, str]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                known[int(entry.name)] = facts_of(int(entry.name))
            except (FileNotFoundError, ProcessLookupError):
                continue

    def is_ours(process: int) -> bool:
        while process in known:
            process = int(known[process]["PPid"])
            if process == os.getpid():
                return True
        return False

    return [
        facts
        for process, facts in known.items()
        if facts["Name"] == "supervisor" and is_ours(process)
    ]


def test_no_supervisor_passes_over_permissions() -> None:
    """Although an overlay was made with that right, without which none can be: the control."""
    usable_backend("bubblewrap")
    try:
        sandbox = Sandbox.create(backend="bubblewrap", writable_root=True)
    except UnsupportedError as error:
        pytest.skip(str(error))
    with sandbox:
        result = sandbox.sh("echo x > /etc/made && cat /etc/made && grep Cap /proc/self/status")
        made, *capabilities = result.collect().stdout.splitlines()
        assert "x" == made
        assert {"0000000000000000"} == {line.split()[1] for line in capabilities}
        found = supervisors()
        end = time.monotonic() + 5
        while any(int(facts["CapEff"], 16) & _DAC_OVERRIDE for facts in found):
            # One that is made ahead gives its rights up as it starts.
            if time.monotonic() > end:
                break
            time.sleep(0.05)
            found = supervisors()
        assert found
        for facts in found:
            assert not int(facts["CapEff"], 16) & _DAC_OVERRIDE
            assert int(facts["CapPrm"], 16) & _DAC_OVERRIDE
