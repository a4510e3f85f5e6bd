"""What a model writes in these tests, and what it has to be told of it."""

from llm_sandbox.session.session import BaseSession

__all__ = ["CODES", "ENDLESS", "PLOT", "PNG", "check_told", "warm"]

PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\nplt.show()\nprint('drawn')"
PNG = b"\x89PNG\r\n\x1a\n"
ENDLESS = "print('begun', flush=True)\nwhile True: pass"
CODES = ("x = 20", "print('x is', x + 1)", "x / 0", ENDLESS, f"{PLOT}\nprint('still', x)")
"""State that is kept over an error and over the end of the time; run with a timeout of 2 s."""


def warm(session: BaseSession) -> None:
    """Draw once, without a limit: a busy machine takes its time to import what draws."""
    assert session.run(PLOT).exit_code == 0


def check_told(told: list[str]) -> None:
    """Check what was answered to `CODES`."""
    _, kept, failed, late, drawn = told
    assert "x is 21" in kept
    assert "ZeroDivisionError" in failed
    assert "begun" in late
    assert "time limit" in late
    assert "drawn" in drawn
    assert "still 20" in drawn
