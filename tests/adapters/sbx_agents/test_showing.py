"""Live output of a running program, and progress messages while it is silent."""

import time

import pytest

from llm_sandbox.adapters.sbx_agents.showing import LineShower


def test_silence_is_explained(capfd: pytest.CaptureFixture[str]) -> None:
    """After half a minute without a line, and not again at once."""
    shower = LineShower(None)
    shower.say_if_quiet()
    assert "" == capfd.readouterr().err
    shower.last = time.monotonic() - 31
    shower.say_if_quiet()
    shower.say_if_quiet()
    assert 1 == capfd.readouterr().err.count("\n")


def test_a_filter_that_fails(capfd: pytest.CaptureFixture[str]) -> None:
    """What it raised is kept for who waits, and nothing more is shown unfiltered."""

    def fails(line: str, source: str) -> str:
        raise LookupError(line)

    shower = LineShower(fails)
    shower.show("secret\n", "stdout")
    shower.show("more\n", "stdout")
    assert isinstance(shower.failure, LookupError)
    assert ("", "") == capfd.readouterr()
