"""`llm-sandbox shell`: from a pipe and on a terminal."""

from __future__ import annotations

import stat
import time
from typing import TYPE_CHECKING

import pytest

from llm_sandbox.cli.blocks import is_entered

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
    shell = terminal("shell", NO_COLOR="1", TERM="dumb")
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
    shell = terminal("shell", TERM="dumb")
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


# --- the editor

PASTED = "\x1b[200~{}\x1b[201~"
"""How terminals mark what is pasted."""
SAID = "\x1b[?2004l"
"""What ends the editing of a block: what follows is what running it says."""


class Editor:
    """A shell on a terminal that can do everything."""

    def __init__(self, shell: Terminal) -> None:
        self.shell = shell
        self.greeting = shell.expect(">>>")

    def run(self, keys: str) -> str:
        """Type a block, and return what running it says."""
        self.shell.type(keys)
        self.shell.expect(SAID)
        return self.shell.expect("\x1b[?2004h").removesuffix("\x1b[?2004h")

    def leave(self) -> None:
        self.shell.type("\x04")
        assert 0 == self.shell.wait()


@pytest.fixture
def editor(terminal: Callable[..., Terminal], tmp_path: Path) -> Callable[[], Editor]:
    """Start a shell, and wait for its prompt."""
    state = str(tmp_path / "state")
    return lambda: Editor(terminal("shell", XDG_STATE_HOME=state, COLUMNS="80", LINES="24"))


def test_pasted_blocks_run_as_they_are(editor: Callable[[], Editor]) -> None:
    """A blank line in a pasted function does not end it, and its spaces stay as they were."""
    shell = editor()
    assert "\x1b[?2004h" in shell.greeting  # the terminal is asked to mark what is pasted
    pasted = "def f(a):\n    b = a + 1\n\n    return b * 100\n\nprint('got', f(3))"
    assert "got 400\r\n" == shell.run(PASTED.format(pasted) + "\r")
    assert "2\r\n" == shell.run("1 + 1\r")
    # Typed and indented, a block ends at a blank line.
    assert "n 0\r\nn 1\r\n" == shell.run("for i in range(2):\rprint('n', i)\r\x7f\r")
    shell.leave()


def test_tab_completes_by_what_the_interpreter_knows(editor: Callable[[], Editor]) -> None:
    shell = editor()
    shell.run("only_one_such_name = 4321\r")
    assert "4321\r\n" == shell.run("only_one_s\t\r")
    assert "NameError" in shell.run("no_such_n\t\r")
    assert "yes\r\n" == shell.run("if True:\r\x7f\x7f\x7f\x7f\tprint('yes')\r\x7f\r")
    shell.leave()


def test_history_goes_on_in_the_next_shell(editor: Callable[[], Editor], tmp_path: Path) -> None:
    """What was typed comes back with the arrows; nobody else can read it."""
    first = editor()
    assert "666\r\n" == first.run("print(6 * 111)\r")
    first.shell.type("print('you said', input())\r")
    first.shell.expect(SAID)
    first.shell.type("an-answer\n")
    first.shell.expect("you said an-answer")
    first.shell.expect(">>>")
    first.leave()
    file = tmp_path / "state" / "llm-sandbox" / "history-python"
    assert 0o600 == stat.S_IMODE(file.stat().st_mode)
    assert "print(6 * 111)" in file.read_text()
    assert "an-answer" not in file.read_text()
    second = editor()
    assert "666\r\n" == second.run("\x1b[A\x1b[A\r")
    second.leave()


def test_question_marks_help(editor: Callable[[], Editor]) -> None:
    shell = editor()
    assert "Tab completes" in shell.run("?\r")
    assert "number of items" in shell.run("len?\r")
    shell.run(PASTED.format("def f():\n    return 5  # why") + "\r\r")
    assert "# why" not in shell.run("f?\r")
    assert "# why" in shell.run("f??\r")
    assert "there is no no_such_thing\r\n" == shell.run("no_such_thing?\r")
    shell.leave()


@pytest.mark.parametrize(
    ("text", "entered"),
    [
        ("1 + 1", True),
        ("for i in x:", False),
        ("for i in x:\n    pass", False),
        ("for i in x:\n    pass\n", True),
        ("def f():\n    a = 1\n\n    return a\n\nf()", True),
        ("x = 1\nfor i in y:", False),
        ("f(1,\n  2", False),
        ("f(1,\n2)", True),
        ("%timeit x", True),
        ("def (", True),
    ],
)
def test_when_enter_runs_a_block(text: str, entered: bool) -> None:
    assert entered is is_entered(text)
