"""`run(argv=)`: code as a file with a command line of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from llm_sandbox import RunStatus, UnsupportedError, ValidationError, create_session
from llm_sandbox.exceptions import BackendUnavailableError, ToolchainNotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llm_sandbox import BaseSession

SHOWS = "import sys, os\nprint(sys.argv, globals().get('__file__'), sorted(os.listdir('.')))"


@pytest.fixture
def session() -> Iterator[BaseSession]:
    try:
        with create_session("bubblewrap") as opened:
            yield opened
    except BackendUnavailableError as error:
        pytest.skip(f"no sandbox here: {error.message}")


def test_a_file_while_it_runs(session: BaseSession) -> None:
    """It is there with its name, and what a later cell sees is what an earlier one did."""
    before = session.run(SHOWS).stdout
    said = session.run(SHOWS, argv=["job.py", "a b", "--c"])
    assert "['job.py', 'a b', '--c'] /sandbox/job.py ['job.py']\n" == said.stdout
    assert () == said.artifacts
    assert before == session.run(SHOWS).stdout
    assert "['-c', 'x'] None []\n" == session.run(SHOWS, argv=["-c", "x"]).stdout


def test_errors_name_the_file(session: BaseSession) -> None:
    ended = session.run("def f():\n    1 / 0\n\nf()", argv=["job.py"])
    assert ended.error is not None
    assert ["/sandbox/job.py"] * 2 == [frame.file for frame in ended.error.frames]
    assert 2 == ended.error.line
    wrong = session.run("x = (", argv=["job.py"])
    assert wrong.error is not None
    assert ("SyntaxError", 1) == (wrong.error.name, wrong.error.line)
    after = session.run("1 / 0")
    assert after.error is not None
    assert after.error.frames[0].file.startswith("<cell ")


def test_a_file_of_the_users_stays(session: BaseSession) -> None:
    """One that is the code is used; one that is not is left as it is."""
    same, other = SHOWS, "print('other')"
    session.sandbox.files.write_text("job.py", same)
    assert "/sandbox/job.py" in session.run(same, argv=["job.py"]).stdout
    session.sandbox.files.write_text("job.py", other)
    assert "/sandbox/job.py" not in session.run(same, argv=["job.py"]).stdout
    assert other == session.sandbox.files.read_text("job.py")


def test_nothing_stays_of_code_that_dies(session: BaseSession) -> None:
    ended = session.run("import os\nos.kill(os.getpid(), 9)", argv=["job.py"])
    assert RunStatus.KILLED is ended.status
    assert () == ended.artifacts
    assert [] == session.sandbox.files.list(".")


@pytest.mark.parametrize("argv", [["a/b.py"], [""], [".."], ["x.py", "\0"], "job.py", [1]])
def test_what_is_no_command_line_is_refused(session: BaseSession, argv: list[str]) -> None:
    with pytest.raises(ValidationError, match=r"argv|argument"):
        session.run("1", argv=argv)


@pytest.mark.parametrize(
    ("lang", "code", "name"),
    [
        ("bash", 'echo "$1,$2"', "a.sh"),
        ("ruby", "puts ARGV.join(',')", "a.rb"),
        ("javascript", "console.log(process.argv.slice(2).join(','))", "a.js"),
        ("typescript", "console.log(process.argv.slice(2).join(','))", "a.ts"),
        ("r", "cat(commandArgs(TRUE), sep=','); cat('\\n')", "a.R"),
        ("cpp", '#include <cstdio>\nint main(int, char **v) { printf("%s,%s\\n", v[1], v[2]); }',
         "a.cpp"),
        ("go", ('package main\nimport ("fmt"; "os")\nfunc main() '
         '{ fmt.Println(os.Args[1] + "," + os.Args[2]) }'), "a.go"),
        ("java", ("public class A { public static void main(String[] a) "
         '{ System.out.println(a[0] + "," + a[1]); } }'), "A.java"),
    ],
    ids=lambda value: value if value.isalpha() else "",
)  # fmt: skip
def test_other_languages_get_the_arguments(lang: str, code: str, name: str) -> None:
    try:
        with create_session("bubblewrap", lang=lang, persistent=False) as session:
            done = session.run(code, argv=[name, "a b", "$c"])
    except (ToolchainNotFoundError, BackendUnavailableError) as error:
        pytest.skip(f"{lang} is not here: {error.message}")
    assert "a b,$c\n" == done.stdout, done.stderr


def test_an_interpreter_that_stays_has_none() -> None:
    try:
        with create_session("bubblewrap", lang="bash") as session:
            with pytest.raises(UnsupportedError, match="argv"):
                session.run("echo 1", argv=["a.sh"])
            assert "1\n" == session.run("echo 1").stdout
    except BackendUnavailableError as error:
        pytest.skip(f"no sandbox here: {error.message}")
