"""`llm-sandbox shell`: from a pipe and on a terminal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Done, Terminal  # for the type checker only

pytestmark = pytest.mark.usefixtures("isolation")

SCRIPT = """\
x = 20
def f(a):

    return a + x
f(1)
for i in range(2):
    print(i)
else:
    print("end")
1 / 0
print("still", x)
"""


def test_script(cli: Callable[..., Done]) -> None:
    """A script needs no blank lines; a block that fails does not end it, and is not forgotten."""
    done = cli("shell", stdin=SCRIPT)
    assert "21\n0\n1\nend\nstill 20\n" == done.out
    assert 1 == done.err.count("ZeroDivisionError: division by zero")
    assert 1 == done.code


def test_script_exit_code(cli: Callable[..., Done]) -> None:
    """The code may leave the shell with an exit code of its own."""
    assert (0, "1\n", "") == cli("shell", stdin="print(1)\nexit\nprint(2)\n")
    assert (4, "1\n", "") == cli("shell", stdin="print(1)\nimport sys; sys.exit(4)\nprint(2)\n")
    assert (0, "", "") == cli("shell", stdin="")


def test_figures(cli: Callable[..., Done], tmp_path: Path) -> None:
    """Figures are saved, numbered through the whole session."""
    draw = "plt.plot([1]); plt.show()\n"
    done = cli("shell", "--out", "figures", stdin=f"import matplotlib.pyplot as plt\n{draw}{draw}")
    assert (0, "") == (done.code, done.out)
    saved = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert ["figure-1.png", "figure-2.png"] == saved
    assert "figures/figure-2.png" in done.err


def test_terminal(terminal: Callable[..., Terminal]) -> None:
    """Blocks end at a blank line, Ctrl-C stops code and drops a line, Ctrl-D leaves."""
    shell = terminal("shell", NO_COLOR="1")
    assert "no network" in shell.expect(">>> ")
    shell.type("x = 5\n")
    shell.expect(">>> ")
    shell.type("for i in range(2):\n")
    shell.expect("... ")
    shell.type("    print('n', i)\n")
    shell.expect("... ")
    shell.type("\n")
    assert "n 0\r\nn 1\r\n" in shell.expect(">>> ")
    shell.type("print('go'); import time; time.sleep(60)\n")
    shell.expect("go\r\n")
    shell.type("\x03")
    assert "KeyboardInterrupt" in shell.expect(">>> ")
    shell.type("half a li")
    shell.expect("half a li")
    # Python misses a signal that comes between its prompt and its reading; people press again.
    time.sleep(0.2)
    shell.type("\x03")
    shell.expect("KeyboardInterrupt")
    shell.expect(">>> ")
    shell.type("x + 1\n")
    assert "6\r\n" in shell.expect(">>> ")
    shell.type("print('you said', input())\n")
    shell.expect("input())\r\n")
    shell.type("hello\n")
    assert "you said hello\r\n" in shell.expect(">>> ")
    shell.type("\x04")
    assert 0 == shell.wait()


def test_code_that_ignores_ctrl_c(terminal: Callable[..., Terminal]) -> None:
    """Code that does not stop costs the variables, not the shell."""
    shell = terminal("shell")
    shell.expect(">>> ")
    code = "import signal; signal.signal(2, signal.SIG_IGN); print('go')\\nwhile True: pass"
    shell.type(f'exec("{code}")\n')
    shell.expect("go\r\n")
    shell.type("\x03")
    assert "restarted" in shell.expect(">>> ")
    shell.type("1 + 1\n")
    assert "2\r\n" in shell.expect(">>> ")


def test_terminal_gets_no_control_sequences(terminal: Callable[..., Terminal]) -> None:
    """What a program prints cannot set a title, move the cursor or hide text on a terminal."""
    code = "print('a\\x1b]0;title\\x07b\\x1b[2J\\x1b[8mc\\x9b31md')"
    run = terminal("run", "-c", code, TERM="dumb")
    assert 0 == run.wait()
    assert "abcd\r\n" == run.text


def test_pipe_gets_what_was_written(cli: Callable[..., Done]) -> None:
    """A pipe or file gets the program's text unchanged."""
    assert (
        "\x1b[31mred\x1b[0m\r50%\r"
        == cli("run", "-c", r"print('\x1b[31mred\x1b[0m\r50%', end='\r')").out
    )
