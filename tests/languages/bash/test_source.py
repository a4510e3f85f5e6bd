"""Shell scripts as text: comments, what they load, what the shell says of them."""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path

import pytest

from llm_sandbox.language_handlers.bash import BashHandler
from llm_sandbox.language_handlers.bash.handler import read_error

HANDLER = BashHandler()


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("echo a # gone\necho b", "echo a \necho b"),
        ("# gone", ""),
        ("a;# gone", "a;"),
        ("echo a#stays ${#b} $# ${c#d} ${e##f}", "echo a#stays ${#b} $# ${c#d} ${e##f}"),
        ("echo '# stays' \"# stays\" $'\\' # stays'", "echo '# stays' \"# stays\" $'\\' # stays'"),
        ('echo "a \\" # stays" # gone', 'echo "a \\" # stays" '),
        ('echo "$(ls "# stays" # gone\n) # stays"', 'echo "$(ls "# stays" \n) # stays"'),
        ('echo "${a:-"# stays"}" # gone', 'echo "${a:-"# stays"}" '),
        ("echo \\# stays \\' # gone", "echo \\# stays \\' "),
        ("cat <<E # gone\n# stays\nE\n# gone\n", "cat <<E \n# stays\nE\n\n"),
        ("cat <<-'E F'\n# stays\n\tE F\n# gone", "cat <<-'E F'\n# stays\n\tE F\n"),
        ("cat <<A <<B\n# a\nA\n# b\nB\n# gone", "cat <<A <<B\n# a\nA\n# b\nB\n"),
        ("cat <<<word # gone\n# gone", "cat <<<word \n"),
        ("echo $((1 << 2)) # gone\n# gone", "echo $((1 << 2)) \n"),
        ("'open # stays", "'open # stays"),
    ],
)
def test_comments(code: str, expected: str) -> None:
    assert HANDLER.filter_comments(code) == expected


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("source lib.sh", True),
        (". lib.sh", True),
        (". ./path/lib.sh", True),
        ("  source 'lib.sh'", True),
        ("true && source /opt/lib.sh", True),
        ("lib.sh | cat", True),
        ("if lib.sh; then", True),
        ("echo lib.sh", False),
        ("source other.sh", False),
        ("source lib.shx", False),
        ("source mylib.sh", False),
    ],
)
def test_what_is_loaded(code: str, found: bool) -> None:
    pattern = HANDLER.get_import_patterns("lib.sh")

    assert bool(re.search(pattern, code, re.MULTILINE)) is found


@pytest.mark.parametrize(
    "code",
    [
        "<<A " * 20_000,
        '"$(' * 50_000,
        "'" * 100_001,
        "# " * 100_000,
        "cat <<A\nA\n" * 20_000,
        ": <<'A'\n" * 20_000,
        "; " * 100_000,
        "/" * 200_000,
        "a" * 200_000,
    ],
)
def test_hostile_text_takes_no_time(code: str) -> None:
    started = time.process_time()
    HANDLER.filter_comments(code)
    re.search(HANDLER.get_import_patterns("lib.sh"), code, re.MULTILINE)

    assert time.process_time() - started < 5


def test_errors_of_the_shell() -> None:
    words = "main.sh: line 3: foo: command not found\ncat: x: No such file\n"
    error = read_error(f"first\nmain.sh: line 1: cd: /x: No such file or directory\n{words}")
    assert error is not None
    assert (error.name, error.value, error.line) == ("BashError", "foo: command not found", 3)

    words = "main.sh: line 5: syntax error near unexpected token `)'\nmain.sh: line 5: `echo )'\n"
    error = read_error(words)
    assert error is not None
    assert (error.kind, error.line) == ("syntax", 5)
    assert read_error("bash: line 1: x\nother.sh: line 2: y\n") is None


@pytest.mark.parametrize("name", ["main.sh", "shim.bash", "program/main.sh"])
def test_the_shell_accepts_the_shim(name: str) -> None:
    folder = HANDLER.shim_folder
    assert folder is not None
    done = subprocess.run(
        ["bash", "-n", str(Path(folder, name))], capture_output=True, text=True, timeout=20
    )

    assert (done.returncode, done.stderr) == (0, "")
