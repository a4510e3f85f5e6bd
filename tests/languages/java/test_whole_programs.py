"""Whole programs, and pieces of code that are run as programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from llm_sandbox import ArtifactSandboxSession
from llm_sandbox.const import RunStatus, StateOutcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from llm_sandbox.session.session import BaseSession

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

RUN_S = 60
HELLO = 'System.out.println("hello " + %s);'


def program(body: str, name: str = "Main") -> str:
    main = "public static void main(String[] args) throws Exception"
    return f"public class {name} {{\n  {main} {{\n{body}\n  }}\n}}\n"


@pytest.fixture(scope="module")
def apart() -> Iterator[BaseSession]:
    """A session that keeps nothing."""
    with ArtifactSandboxSession(lang="java", backend="bubblewrap", persistent=False) as session:
        yield session


def test_a_program_leaves_the_shell_as_it_is(session: BaseSession) -> None:
    session.run("int kept = 3;", timeout=RUN_S)
    result = session.run(program(HELLO % 1), timeout=RUN_S)

    assert ("hello 1\n", StateOutcome.KEPT) == (result.stdout, result.state)
    assert () == result.artifacts
    assert "3" == session.run("kept", timeout=RUN_S).value


def test_programs_need_no_shell() -> None:
    """The shell's virtual machine is not started for programs."""
    with ArtifactSandboxSession(lang="java", backend="bubblewrap") as session:
        session.run(program(HELLO % 1), timeout=RUN_S)
        seen = session.execute_command("grep -l '^java' /proc/[0-9]*/comm || true").stdout

    assert "" == seen


@pytest.mark.parametrize(
    ("code", "stdout"),
    [
        (program(HELLO % 2, "Odd_Name1"), "hello 2\n"),
        (f"package deep.er;\n{program(HELLO % 'Main.class.getName()')}", "hello deep.er.Main\n"),
        (
            f"public class Other {{ }}\n{program(HELLO % 4).replace('public class', 'class')}",
            "hello 4\n",
        ),
        (program('System.out.print("é✓🎉" + System.getProperty("file.encoding"));'), "é✓🎉UTF-8"),
        (program("System.out.print(new java.util.Scanner(System.in).nextLine().length());"), "5"),
    ],
)
def test_programs(apart: BaseSession, code: str, stdout: str) -> None:
    result = apart.run(code, stdin="five!\n", timeout=RUN_S)

    assert (stdout, "", 0) == (result.stdout, result.stderr, result.exit_code)


def test_an_exception_of_a_program(apart: BaseSession) -> None:
    result = apart.run(
        program('    fail();\n  }\n  static void fail() {\n    throw new Error("bad");')
    )
    error = result.error

    assert (RunStatus.ERROR, 1) == (result.status, result.exit_code)
    assert error is not None
    assert ("java.lang.Error", "bad", 6) == (error.name, error.value, error.line)
    assert ["Main.main", "Main.fail"] == [frame.function for frame in error.frames]
    assert "at Main.fail(Main.java:6)" in result.stderr


def test_exit_code_of_a_program(apart: BaseSession) -> None:
    assert 9 == apart.run(program("System.exit(9);"), timeout=RUN_S).exit_code


def test_words_of_the_compiler(apart: BaseSession) -> None:
    """They name the file alone, and all errors are among them."""
    result = apart.run(program('    int x = nothing;\n    int y = "";'), timeout=RUN_S)

    assert result.error is not None
    assert (3, 13) == (result.error.line, result.error.column)
    assert result.stderr.startswith("Main.java:3: error: cannot find symbol\n")
    assert "Main.java:4: error: incompatible types" in result.stderr
    assert "llm-sandbox" not in result.stderr


def test_a_helper_beside_the_program(apart: BaseSession) -> None:
    """Classes in the working directory are found, and none is made there."""
    apart.sandbox.files.write_text("Beside.java", "class Beside { static int six() { return 6; } }")
    result = apart.run(program("System.out.println(Beside.six());"), timeout=RUN_S)

    assert ("6\n", "") == (result.stdout, result.stderr)
    assert () == result.files


@pytest.mark.parametrize(
    ("code", "stdout", "exit_code"),
    [
        ("int b = 2;\nSystem.out.println(b * 21);", "42\n", 0),
        ("6 * 7", "", 0),
        ("System.out.println(1);\nSystem.exit(3);", "1\n", 3),
        ("System.out.println(new Scanner(System.in).nextLine());", "five!\n", 0),
    ],
)
def test_pieces_as_programs(apart: BaseSession, code: str, stdout: str, exit_code: int) -> None:
    result = apart.run(code, stdin="five!\n", timeout=RUN_S)

    assert (stdout, exit_code) == (result.stdout, result.exit_code), result.stderr
    assert StateOutcome.RESET is result.state


@pytest.mark.parametrize(
    ("code", "name", "kind"),
    [
        ("int q = 1;\nint z = true;", "CompileError", "compile"),
        (
            'int q = 1;\nthrow new IllegalStateException("m");',
            "java.lang.IllegalStateException",
            "exception",
        ),
    ],
)
def test_errors_of_pieces_as_programs(apart: BaseSession, code: str, name: str, kind: str) -> None:
    result = apart.run(code, timeout=RUN_S)

    assert 1 == result.exit_code
    assert result.error is not None
    assert (name, kind, 2) == (result.error.name, result.error.kind, result.error.line)
