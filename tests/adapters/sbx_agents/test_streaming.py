"""Live output of a running program, and progress messages while it is silent."""

import time

import pytest

from llm_sandbox.adapters.sbx_agents.streaming import LinePrinter


def test_silence_is_explained(capfd: pytest.CaptureFixture[str]) -> None:
    """After half a minute without a line, and not again at once."""
    printer = LinePrinter(None)
    printer.report_silence()
    assert "" == capfd.readouterr().err
    printer.last = time.monotonic() - 31
    printer.report_silence()
    printer.report_silence()
    assert 1 == capfd.readouterr().err.count("\n")


def test_a_filter_that_fails(capfd: pytest.CaptureFixture[str]) -> None:
    """What it raised is kept for who waits, and nothing more is shown unfiltered."""

    def fails(line: str, source: str) -> str:
        raise LookupError(line)

    printer = LinePrinter(fails)
    printer.print_line("secret\n", "stdout")
    printer.print_line("more\n", "stdout")
    assert isinstance(printer.failure, LookupError)
    assert ("", "") == capfd.readouterr()
