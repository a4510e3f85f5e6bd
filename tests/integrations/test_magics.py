"""`%load_ext llm_sandbox` in a real interpreter."""

from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from llm_sandbox.exceptions import ValidationError


@pytest.fixture
def shell(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    made = InteractiveShell()
    made.history_manager.enabled = False
    made.run_line_magic("load_ext", "llm_sandbox")
    yield made
    made.run_line_magic("sandbox_reset", "")


def cell(shell: InteractiveShell, code: str, options: str = "") -> Any:
    return shell.run_cell_magic("sandbox", f"--backend bubblewrap {options}", code)


def test_cells_share_a_session_that_is_not_the_notebook(shell: InteractiveShell) -> None:
    """Variables are kept from cell to cell, and stay in the sandbox."""
    cell(shell, "x = 41")
    result = cell(shell, "x + 1", "--out answer")
    assert result.value == "42"
    assert shell.user_ns["answer"] is result
    assert "x" not in shell.user_ns
    shell.run_line_magic("sandbox_reset", "")
    assert cell(shell, "x").error.name == "NameError"


def test_a_result_shows_itself(shell: InteractiveShell) -> None:
    """A figure of the sandbox is a picture in the notebook."""
    result = cell(shell, "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()")
    assert "image/png" in shell.display_formatter.format(result)[0]["text/html"]


def test_a_timeout_is_a_result(shell: InteractiveShell) -> None:
    """And the session goes on."""
    assert cell(shell, "while True: pass", "--timeout 1").timed_out
    assert cell(shell, "print('on')").stdout == "on\n"


def test_cells_have_a_deadline_unless_they_say_otherwise() -> None:
    """60 seconds, stated in the magic's own words."""
    from llm_sandbox.integrations import magics

    assert magics._read("")["timeout"] == 60
    assert magics._read("--timeout none")["timeout"] is None
    assert "60 seconds" in (magics.__doc__ or "")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("--nonsense", "knows no"),
        ("--lib", "lacks its value"),
        ("--timeout soon", "seconds or none"),
    ],
)
def test_mistakes_are_named(shell: InteractiveShell, options: str, says: str) -> None:
    """With what can be written."""
    with pytest.raises(ValidationError, match=says):
        cell(shell, "1", options)
